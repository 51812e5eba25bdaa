const NOT_ASCII = /[\u0080-\u00ff]/;

/** A header's value as text: Node decodes header bytes as latin1. `isValid`: they are UTF-8; other bytes become U+FFFD. */
export const headerText = (value: string): { readonly text: string; readonly isValid: boolean } => {
  if (!NOT_ASCII.test(value)) return { text: value, isValid: true };
  const text = Buffer.from(value, 'latin1').toString('utf8');
  // The client itself may send U+FFFD.
  return { text, isValid: !text.includes('\ufffd') || value.includes('\xef\xbf\xbd') };
};

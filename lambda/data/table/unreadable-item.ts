/** A stored item that this version cannot read: a later version wrote it, or it is damaged. Reading it again does not help. */
export class UnreadableItemError extends Error {
  override readonly name = 'UnreadableItemError';
}

/** @throws UnreadableItemError where `parse` throws */
export const readItem = <T>(parse: () => T): T => {
  try {
    return parse();
  } catch (cause) {
    throw new UnreadableItemError('A stored item cannot be read.', { cause });
  }
};

/** A mail's content. The subject is ours alone: no text of a user or client is in it. */
export interface Mail {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text that users or clients wrote never becomes markup. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character] ?? '');

/** Invisible, and where it stands no line or word may end. Mail programs make no link of a host name or address that contains one. */
const WORD_JOINER = '\u2060';

/** Text of users and clients as a mail may quote it: mail programs turn `evil.example`, `https://…` and `a@b` into links by themselves. */
export const withoutLinks = (text: string): string =>
  text.replace(/(?<=\S)\.(?=\p{L})|:(?=\/\/)|@/gu, (mark) => `${mark}${WORD_JOINER}`);

/** Phones show a mail as wide as they are, and in the dark with light text, if it says that it may be shown so. */
const HEAD =
  '<head><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"></head>';

/** The HTML document of a mail around a body of markup. */
export const htmlDocument = (lines: readonly string[]): string =>
  [
    `<!doctype html><html>${HEAD}<body style="font-family:sans-serif;overflow-wrap:anywhere">`,
    ...lines,
    '</body></html>',
  ].join('\n');

/** A mail of paragraphs of our own text. A paragraph that is a URL becomes a link. */
export const plainMail = (subject: string, paragraphs: readonly string[]): Mail => ({
  subject,
  text: [...paragraphs.flatMap((paragraph) => [paragraph, '']), 'AI Spend Gateway', ''].join('\n'),
  html: htmlDocument(
    [...paragraphs, 'AI Spend Gateway'].map((paragraph) => {
      const escaped = escapeHtml(paragraph);
      return /^https?:\/\/\S+$/.test(paragraph) ? `<p><a href="${escaped}">${escaped}</a></p>` : `<p>${escaped}</p>`;
    }),
  ),
});

/*
 * Where the events of a stream end: at a blank line, with LF or CRLF line ends. Searches are for one byte, which Node does
 * natively and fastest.
 */

export const LF = 0x0a;
export const CR = 0x0d;

/** True where the line feed at `lf` closes a blank line. */
const closesEvent = (bytes: Buffer, lf: number): boolean =>
  bytes[lf - 1] === LF || (bytes[lf - 1] === CR && bytes[lf - 2] === LF);

/** Index behind the first blank line that ends at or after `from`; -1 when there is none. */
export const firstEventEnd = (bytes: Buffer, from: number): number => {
  for (let lf = bytes.indexOf(LF, from); lf !== -1; lf = bytes.indexOf(LF, lf + 1))
    if (closesEvent(bytes, lf)) return lf + 1;
  return -1;
};

/** Index behind the last blank line that ends before `before`; -1 when there is none. */
export const lastEventEnd = (bytes: Buffer, before = bytes.length): number => {
  for (let lf = before > 0 ? bytes.lastIndexOf(LF, before - 1) : -1; lf > 0; lf = bytes.lastIndexOf(LF, lf - 1))
    if (closesEvent(bytes, lf)) return lf + 1;
  return -1;
};

/*
 * Finds the ends of events, which are blank lines with LF or CRLF. The searches are for one byte, Node's fastest native search.
 * Lines may also end with CR alone, which nobody sends: LineEnds converts such a stream first.
 */

export const LF = 0x0a;
export const CR = 0x0d;

/** True if the line feed at `lf` ends a blank line. */
const closesEvent = (bytes: Buffer, lf: number): boolean =>
  bytes[lf - 1] === LF || (bytes[lf - 1] === CR && bytes[lf - 2] === LF);

/** Index after the first blank line that ends at or after `from`; -1 if there is none. */
export const firstEventEnd = (bytes: Buffer, from: number): number => {
  for (let lf = bytes.indexOf(LF, from); lf !== -1; lf = bytes.indexOf(LF, lf + 1))
    if (closesEvent(bytes, lf)) return lf + 1;
  return -1;
};

/** Index after the last blank line that ends before `before`; -1 if there is none. */
export const lastEventEnd = (bytes: Buffer, before = bytes.length): number => {
  for (let lf = before > 0 ? bytes.lastIndexOf(LF, before - 1) : -1; lf > 0; lf = bytes.lastIndexOf(LF, lf - 1))
    if (closesEvent(bytes, lf)) return lf + 1;
  return -1;
};

/** Converts a stream to LF if its first line ends with CR alone. Other streams pass unchanged. */
export class LineEnds {
  #isCrAlone: boolean | undefined;
  /** True if a chunk ended with CR, whose LF may follow in the next. */
  #held = false;

  write(chunk: Buffer): Buffer {
    if (this.#isCrAlone === undefined) return this.#decide(chunk);
    return this.#isCrAlone ? withLf(chunk) : chunk;
  }

  #decide(chunk: Buffer): Buffer {
    const bytes = this.#held ? Buffer.concat([Buffer.of(CR), chunk]) : chunk;
    const cr = bytes.indexOf(CR);
    const lf = bytes.indexOf(LF);
    this.#held = lf === -1 && cr !== -1 && cr === bytes.length - 1;
    if (this.#held) return bytes.subarray(0, cr);
    if (cr !== -1 || lf !== -1) this.#isCrAlone = cr !== -1 && (lf === -1 || lf > cr + 1);
    return this.#isCrAlone ? withLf(bytes) : bytes;
  }
}

const withLf = (chunk: Buffer): Buffer => Buffer.from(chunk.map((byte) => (byte === CR ? LF : byte)));

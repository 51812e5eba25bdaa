/*
 * Where the events of a stream end: at a blank line, with LF or CRLF line ends. Searches are for one byte, which Node does
 * natively and fastest. Lines may also end with CR alone, which nobody sends: such a stream is rewritten first.
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

/** Gives LF to a stream whose lines end with CR alone, as its first line tells; every other stream is handed on as it is. */
export class LineEnds {
  #isCrAlone: boolean | undefined;
  /** A CR at a chunk's end, whose LF may come with the next. */
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

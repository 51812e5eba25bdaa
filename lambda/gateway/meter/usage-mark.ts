const QUOTE = 0x22;
const UNDERSCORE = 0x5f;

/** What follows a name whose value is null. */
const NULL = /^\s*:\s*n/;
/** Enough for it, with white space. */
const NULL_BYTES = 64;

/** The quote before a name, or what precedes the last word of one: `"total_usage"`. */
const isBefore = (byte: number | undefined): boolean => byte === QUOTE || byte === UNDERSCORE;

/** Finds a member in JSON text by its name, the last word of its name, or the beginning of either. */
export class UsageMark {
  /**
   * Without what precedes it, which is checked afterwards: a search that begins with JSON's most frequent byte takes six
   * times as long.
   */
  readonly #name: Buffer;
  /** Made on first use: most streams have no nulls. */
  #notNull: RegExp | undefined;

  /** @param name letters and underscores */
  constructor(name: string) {
    this.#name = Buffer.from(name);
  }

  next(bytes: Buffer, from: number): number {
    let mark = bytes.indexOf(this.#name, from);
    while (mark !== -1 && !isBefore(bytes[mark - 1])) mark = bytes.indexOf(this.#name, mark + this.#name.length);
    return mark;
  }

  previous(bytes: Buffer, before: number): number {
    let mark = this.#lastBefore(bytes, before);
    while (mark !== -1 && !isBefore(bytes[mark - 1])) mark = this.#lastBefore(bytes, mark);
    return mark;
  }

  /** A negative offset would count from the end. */
  #lastBefore(bytes: Buffer, before: number): number {
    return before < this.#name.length ? -1 : bytes.lastIndexOf(this.#name, before - this.#name.length);
  }

  /** True for `"usage": null`, false if the mark only begins the member's name. */
  isNull(bytes: Buffer, mark: number): boolean {
    const end = mark + this.#name.length;
    return bytes[end] === QUOTE && NULL.test(bytes.toString('latin1', end + 1, end + NULL_BYTES));
  }

  /** True if a member from `from` on is not null. One search skips a run of nulls. */
  hasValue(bytes: Buffer, from: number): boolean {
    this.#notNull ??= new RegExp(`["_]${this.#name.toString()}(?!"\\s*:\\s*n)`);
    return this.#notNull.test(bytes.toString('latin1', from));
  }
}

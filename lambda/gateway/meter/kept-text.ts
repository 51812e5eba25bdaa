import type { Dialect } from '../../domain/usage/dialect.ts';

/**
 * Bytes of a response that are kept until its end, in case it reports no usage: then its tokens are estimated from the length of
 * the text that the client got. The rest is extrapolated.
 */
const MAX_KEPT_BYTES = 64 * 1024;

/** Finds the string members with visible text. Captures the string as JSON. */
const text = (names: string): RegExp => new RegExp(`"(?:${names})"\\s*:\\s*"((?:[^"\\\\]|\\\\.)*)`, 'gs');
const visibleText: Partial<Record<Dialect, RegExp>> = {
  'openai-chat': text('content|reasoning|reasoning_content|refusal|name|arguments'),
  'openai-completions': text('text'),
  'openai-responses': text('delta'),
  'anthropic-messages': text('text|thinking|name|partial_json'),
  'gemini-generate': text('text'),
  'cohere-chat': text('text|thinking|tool_plan|name|arguments'),
  'cohere-generate': text('text'),
};

/**
 * Keeps the first bytes of a response for an estimate, and counts all of them. In one buffer: the events of a stream are small,
 * and a buffer for each would take several times its size.
 */
export class KeptText {
  readonly #dialect: Dialect;
  #kept: Buffer | undefined;
  #keptBytes = 0;
  #totalBytes = 0;

  constructor(dialect: Dialect) {
    this.#dialect = dialect;
  }

  write(chunk: Buffer): void {
    this.#totalBytes += chunk.length;
    if (this.#keptBytes >= MAX_KEPT_BYTES || !visibleText[this.#dialect]) return;
    if (!this.#kept) {
      this.#kept = chunk.subarray(0, MAX_KEPT_BYTES);
      this.#keptBytes = this.#kept.length;
      return;
    }
    const bytes = Math.min(chunk.length, MAX_KEPT_BYTES - this.#keptBytes);
    this.#withRoomFor(bytes, this.#kept).set(chunk.subarray(0, bytes), this.#keptBytes);
    this.#keptBytes += bytes;
  }

  #withRoomFor(bytes: number, kept: Buffer): Buffer {
    const wanted = this.#keptBytes + bytes;
    if (wanted <= kept.length) return kept;
    this.#kept = Buffer.allocUnsafeSlow(Math.min(Math.max(wanted, 2 * kept.length), MAX_KEPT_BYTES));
    this.#kept.set(kept);
    return this.#kept;
  }

  /** Bytes of the visible text; null if there is none, or the dialect has no known text. */
  textBytes(): number | null {
    const pattern = visibleText[this.#dialect];
    if (!pattern || !this.#kept) return null;
    const kept = withoutRepeat(this.#kept.toString('utf8', 0, this.#keptBytes));
    let bytes = 0;
    for (const [, visible] of kept.matchAll(pattern)) bytes += Buffer.byteLength(textOf(visible as string));
    if (bytes === 0) return null;
    return Math.ceil(bytes * (this.#totalBytes / this.#keptBytes));
  }
}

/** The last event of Cohere's v1 streams repeats all text. */
const withoutRepeat = (text: string): string => {
  const end = text.indexOf('"is_finished":true');
  return end === -1 ? text : text.slice(0, end);
};

/** The content of a JSON string; the string itself if it is cut within an escape. */
const textOf = (json: string): string => {
  try {
    return JSON.parse(`"${json}"`) as string;
  } catch {
    return json;
  }
};

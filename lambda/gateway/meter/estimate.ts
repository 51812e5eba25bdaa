import type { Dialect } from '../../domain/usage/dialect.ts';

/*
 * When a provider reports no usage (the client disconnected, or switched usage off), tokens are estimated from the length of
 * the visible text. A token is about four bytes of UTF-8: for English, code and Chinese (three bytes a character) this is
 * within about 10 % of o200k. A tokenizer is more exact but needs megabytes of tables on the hot path. Hidden reasoning cannot
 * be estimated: its price stays unknown.
 */
const BYTES_PER_TOKEN = 4;

/** Bytes of a response that are kept until its end, in case it reports no usage. The rest is extrapolated. */
const MAX_KEPT_BYTES = 64 * 1024;

/** Finds the string members with visible text. Captures the string as JSON. */
const text = (names: string): RegExp => new RegExp(`"(?:${names})"\\s*:\\s*"((?:[^"\\\\]|\\\\.)*)`, 'gs');
const visibleText: Partial<Record<Dialect, RegExp>> = {
  'openai-chat': text('content|reasoning|reasoning_content|arguments'),
  'openai-completions': text('text'),
  'openai-responses': text('delta'),
  'anthropic-messages': text('text|thinking|partial_json'),
  'gemini-generate': text('text'),
  'cohere-chat': text('text|arguments'),
  'cohere-generate': text('text'),
};

type Estimate = (inputTokens: number, outputTokens: number) => Record<string, unknown>;

/** Estimated usage in the shape of each dialect, so that it is normalised like reported usage. */
const shapes: Partial<Record<Dialect, Estimate>> = {
  'openai-chat': (input, output) => ({ prompt_tokens: input, completion_tokens: output, total_tokens: input + output }),
  'openai-completions': (input, output) => ({
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
  }),
  'openai-responses': (input, output) => ({ input_tokens: input, output_tokens: output, total_tokens: input + output }),
  'anthropic-messages': (input, output) => ({ input_tokens: input, output_tokens: output }),
  'gemini-generate': (input, output) => ({
    promptTokenCount: input,
    candidatesTokenCount: output,
    totalTokenCount: input + output,
  }),
  'cohere-chat': (input, output) => ({ billed_units: { input_tokens: input, output_tokens: output } }),
  'cohere-generate': (input, output) => ({ billed_units: { input_tokens: input, output_tokens: output } }),
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

  /** Tokens of the visible text; null if there is none, or the dialect has no known text. */
  outputTokens(): number | null {
    const pattern = visibleText[this.#dialect];
    if (!pattern || !this.#kept) return null;
    const kept = this.#kept.toString('utf8', 0, this.#keptBytes);
    let bytes = 0;
    for (const [, visible] of kept.matchAll(pattern)) bytes += Buffer.byteLength(textOf(visible as string));
    if (bytes === 0) return null;
    return Math.ceil((bytes * (this.#totalBytes / this.#keptBytes)) / BYTES_PER_TOKEN);
  }
}

/** The content of a JSON string; the string itself if it is cut within an escape. */
const textOf = (json: string): string => {
  try {
    return JSON.parse(`"${json}"`) as string;
  } catch {
    return json;
  }
};

/**
 * Estimates the usage of a response that reported none, or only its input (Anthropic, interrupted).
 *
 * @param promptBytes length of the request's text
 * @returns null if there is nothing to estimate from
 */
export const estimateUsage = (
  dialect: Dialect,
  reported: Record<string, unknown> | null,
  promptBytes: number,
  outputTokens: number | null,
): Record<string, unknown> | null => {
  const shape = shapes[dialect];
  if (!shape || outputTokens === null) return null;
  if (!reported) return shape(Math.ceil(promptBytes / BYTES_PER_TOKEN), outputTokens);
  const reportedOutput = reported['output_tokens'];
  return typeof reportedOutput !== 'number' || outputTokens > reportedOutput
    ? { ...reported, output_tokens: outputTokens }
    : null;
};

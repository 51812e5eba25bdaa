import type { Dialect } from '../../domain/usage/dialect.ts';

/*
 * Where a provider reported nothing (a stream that was left, usage switched off), tokens are estimated from the length of the
 * visible text. A token is about four bytes of UTF-8: English words, code, and (three bytes a character) Chinese alike come
 * out within some ten per cent of o200k. A tokenizer would be nearer, at megabytes of tables on the hot path. What a model
 * thinks unseen cannot be estimated: the price then stays unknown.
 */
const BYTES_PER_TOKEN = 4;

/** Kept of an answer until its end, in case it reports no usage. What is longer is extrapolated. */
const MAX_KEPT_BYTES = 64 * 1024;

/** String members that hold visible text, by dialect; captured is the string as JSON. */
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

/** Estimated usage in the words of the dialect, so that it is normalised like any other. */
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
 * The first bytes of an answer, kept for an estimate; and how many there were in all. In one piece: a stream's events are small, and
 * each as a buffer of its own would take several times its size.
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

  /** Tokens of the visible text; null where the dialect has no text we know, or none came. */
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

/** A JSON string's content; as it stands where it is cut within an escape. */
const textOf = (json: string): string => {
  try {
    return JSON.parse(`"${json}"`) as string;
  } catch {
    return json;
  }
};

/**
 * Estimated usage of an answer that reported none, or (Anthropic, left early) only its input.
 *
 * @param promptBytes length of the request's text
 * @returns null where there is nothing to estimate from
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

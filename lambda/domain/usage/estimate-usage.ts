import { type Dialect, isEmbedding } from './dialect.ts';
import { imageTokens } from './image-tokens.ts';
import { INPUT_BOUNDS, outputTokens } from './output-tokens.ts';
import { countOf, type Raw } from './raw.ts';
import { promptTokens, type Tokenizer, tokenizerOf } from './tokenizers.ts';
import type { Reading } from './usage-event.ts';

/*
 * When a provider reports no usage (the client disconnected, or switched usage off), tokens are estimated from the sizes of what
 * request and response show. A tokenizer would need the text, which does not leave the gateway. Hidden reasoning
 * cannot be estimated unless the response has it in encrypted form: its price stays unknown.
 */

type Shape = (inputTokens: number, outputTokens: number) => Raw;

const chat: Shape = (input, output) => ({
  prompt_tokens: input,
  completion_tokens: output,
  total_tokens: input + output,
});
const messages: Shape = (input, output) => ({ input_tokens: input, output_tokens: output });
const gemini: Shape = (input, output) => ({
  promptTokenCount: input,
  candidatesTokenCount: output,
  totalTokenCount: input + output,
});
const cohere: Shape = (input, output) => ({ billed_units: { input_tokens: input, output_tokens: output } });

/** The shape of each dialect, so that an estimate is normalised like reported usage. */
const shapes: Partial<Record<Dialect, Shape>> = {
  'openai-chat': chat,
  'openai-completions': chat,
  'openai-responses': messages,
  'openai-embeddings': chat,
  'anthropic-messages': messages,
  'gemini-generate': gemini,
  'gemini-embed': gemini,
  'cohere-chat': cohere,
  'cohere-generate': cohere,
  'cohere-embed': cohere,
};

/** Dialects whose text goes to the model without a chat template. */
const isPlain = (dialect: Dialect): boolean =>
  isEmbedding(dialect) || dialect === 'openai-completions' || dialect === 'cohere-generate';

/** Name of the model where neither request nor response names one. */
const usualModels: Partial<Record<Dialect, string>> = {
  'anthropic-messages': 'claude',
  'gemini-generate': 'gemini',
  'gemini-embed': 'gemini',
  'cohere-chat': 'command',
  'cohere-generate': 'command',
  'cohere-embed': 'command',
};

export interface EstimatedUsage {
  /** In the shape of the reading's dialect. */
  readonly usage: Raw;
  /** The same with the least and the most tokens that nine of ten recorded requests would have. */
  readonly least: Raw;
  readonly most: Raw;
  /** The input has parts that cannot be counted: it is at least this. */
  readonly isLowerBound: boolean;
}

/** Name of the model that decides how tokens are counted. */
const modelName = ({ dialect, modelServed, modelRequested }: Reading): string =>
  modelServed ?? modelRequested ?? usualModels[dialect] ?? '';

/**
 * Estimates the usage of a response that reported none, or only its input (Anthropic, interrupted).
 *
 * @returns null if the reading has nothing to estimate from, or its dialect has no text
 */
export const estimateUsage = (reading: Reading): EstimatedUsage | null => {
  const { dialect, visible, usage: reported } = reading;
  const shape = shapes[dialect];
  if (!visible || !shape) return null;
  const model = modelName(reading);
  const tokenizer = tokenizerOf(model);
  const output = outputTokens(model, tokenizer, visible);
  if (reported)
    return {
      usage: withOutput(reported, output.tokens),
      least: withOutput(reported, output.least),
      most: withOutput(reported, output.most),
      isLowerBound: false,
    };
  const input = inputTokens(reading, model, tokenizer);
  if (!input) return null;
  const [least, most] = INPUT_BOUNDS;
  return {
    usage: shape(input.tokens, output.tokens),
    least: shape(Math.floor(input.tokens * least), output.least),
    most: shape(Math.ceil(input.tokens * most), output.most),
    isLowerBound: input.isLowerBound,
  };
};

/** Only an output that is larger than the reported one is news. */
const withOutput = (reported: Raw, output: number): Raw =>
  (countOf(reported['output_tokens']) ?? -1) >= output ? reported : { ...reported, output_tokens: output };

const inputTokens = (
  { dialect, visible }: Reading,
  model: string,
  tokenizer: Tokenizer,
): { readonly tokens: number; readonly isLowerBound: boolean } | null => {
  const prompt = visible?.prompt;
  if (!prompt) return null;
  const images = prompt.images.map((image) => imageTokens(model, image));
  const tokens =
    promptTokens(prompt, tokenizer, !isPlain(dialect)) + images.reduce<number>((sum, tokens) => sum + (tokens ?? 0), 0);
  return { tokens: Math.ceil(tokens), isLowerBound: prompt.uncounted.length > 0 || images.includes(null) };
};

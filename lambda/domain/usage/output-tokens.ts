import { type Tokenizer, tokenizerFamily } from './tokenizers.ts';
import type { VisibleSizes } from './usage-event.ts';

/** An estimated number, and the bounds between which nine of ten recorded responses lie. */
export interface Estimate {
  readonly tokens: number;
  readonly least: number;
  readonly most: number;
}

/** Bounds of a part of an output, as shares of its estimate. Measured: see docs/metering.md. */
const bounds = { text: [0.72, 1.5], calls: [0.62, 1.6], thinking: [0.75, 1.5], hidden: [0.6, 1.6] } as const;

export const INPUT_BOUNDS = [0.6, 1.8] as const;

/** Bounds of what older gateways send: the bytes of everything that is text, without the tokens of calls. */
const BYTES_BOUNDS = [0.6, 3] as const;

/** Tokens by which the bounds of the shortest responses are wider. */
const FEW_TOKENS = 3;

/** Claude shows a summary of its reasoning, which is about as long as the beginning of it. */
const CLAUDE_TOKENS_OF_SHOWN_THINKING = 1.15;

/**
 * Reasoning in encrypted form is longer than the reasoning by a constant, and in proportion: characters of each part without reasoning, and
 * characters for each token. By pattern of the model's name.
 */
const hiddenForms: readonly (readonly [models: RegExp, charactersPerPart: number, charactersPerToken: number])[] = [
  [/(?:^|\/)(?:o\d|gpt-)/, 1150, 5.8],
  [/gemini/, 67, 5.44],
  [/claude/, 400, 3.2],
];

const LEAST_SHARE_OF_PART = 0.8;

/** Tokens of reasoning that a response has in encrypted form; null where it has none, or its length says nothing. */
export const hiddenTokens = (
  model: string,
  { hiddenBytes, hiddenParts, thinkingPieces }: VisibleSizes,
): number | null => {
  const form = hiddenForms.find(([models]) => models.test(model.toLowerCase()));
  if (!form || hiddenParts === 0) return null;
  // Claude signs the reasoning that it shows.
  if (form[0].test('claude') && thinkingPieces > 0) return null;
  const [, charactersPerPart, charactersPerToken] = form;
  const ofTokens = hiddenBytes - charactersPerPart * hiddenParts;
  // Anything shorter is no reasoning.
  if (hiddenBytes < LEAST_SHARE_OF_PART * charactersPerPart * hiddenParts) return null;
  return Math.max(0, ofTokens / charactersPerToken);
};

/** Tokens of the output that a client got. @param output absent in events of older gateways, which have its bytes alone */
export const outputTokens = (
  model: string,
  tokenizer: Tokenizer,
  { output, outputBytes }: { readonly output?: VisibleSizes | undefined; readonly outputBytes: number },
): Estimate => {
  if (outputBytes === 0 && !output) return { tokens: 0, least: 0, most: 0 };
  if (!output) return bounded([[outputBytes / tokenizer.bytesPerToken, BYTES_BOUNDS]]);
  const hidden = hiddenTokens(model, output);
  const isClaude = tokenizerFamily(model).startsWith('claude');
  // A summary of reasoning that is also there in encrypted form is no output of its own.
  const thinking = hidden === null ? output.thinkingPieces * (isClaude ? CLAUDE_TOKENS_OF_SHOWN_THINKING : 1) : 0;
  const hasCalls = output.calls > 0;
  return bounded([
    [output.pieces * tokenizer.tokensPerPiece, hasCalls ? bounds.calls : bounds.text],
    [output.calls * tokenizer.tokensPerCallMade, bounds.calls],
    [thinking * tokenizer.tokensPerPiece, bounds.thinking],
    [hidden ?? 0, bounds.hidden],
  ]);
};

const bounded = (parts: readonly (readonly [tokens: number, bounds: readonly [number, number]])[]): Estimate => {
  const sum = (factor: (bounds: readonly [number, number]) => number) =>
    parts.reduce((total, [tokens, bounds]) => total + tokens * factor(bounds), 0);
  return {
    tokens: Math.ceil(sum(() => 1)),
    least: Math.max(0, Math.floor(sum(([least]) => least)) - FEW_TOKENS),
    most: Math.ceil(sum(([, most]) => most)) + FEW_TOKENS,
  };
};

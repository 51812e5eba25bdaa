import type { Prompt } from './usage-event.ts';

/** How a family of models counts a prompt, and a response. Measured: see docs/metering.md. */
const tokenizer = (
  /** UTF-8 bytes of a prompt's text for each token. */
  bytesPerToken: number,
  /** Tokens that the chat template adds to a conversation, and to each message. */
  tokensPerChat: number,
  tokensPerMessage: number,
  /** Tokens of an earlier call of a tool and its result, in addition to their text. */
  tokensPerCall: number,
  /** Tokens that the first tool adds, and bytes of the tools' JSON for each token. */
  tokensForTools: number,
  toolBytesPerToken: number,
  /** Bytes of the response's JSON schema for each token; null where the schema is no input. */
  schemaBytesPerToken: number | null,
  /** Tokens of a response for each of its pieces (see `piecesOf`), and of a tool call in addition to its name and arguments. */
  tokensPerPiece: number,
  tokensPerCallMade: number,
) => ({
  bytesPerToken,
  tokensPerChat,
  tokensPerMessage,
  tokensPerCall,
  tokensForTools,
  toolBytesPerToken,
  schemaBytesPerToken,
  tokensPerPiece,
  tokensPerCallMade,
});

export type Tokenizer = Readonly<ReturnType<typeof tokenizer>>;

/**
 * The families of models by a pattern of their names; the first match counts. `npm run meter -- --calibrate FILE…` measures the
 * numbers over recordings. Claude's prompt for tools is 313 to 530 tokens.
 * @see https://docs.anthropic.com/en/docs/agents-and-tools/tool-use/overview#pricing
 */
const families: readonly (readonly [name: string, models: RegExp, tokenizer: Tokenizer])[] = [
  ['gpt-oss', /gpt-oss/, tokenizer(4.6, 62, 7, 12, 20, 7.5, 3.6, 1.2, 8)],
  ['claude-4.7', /claude-opus-(?:4[-.][7-9]|[5-9])/, tokenizer(3, 7, 2, 50, 500, 3.2, 2, 1.65, 60)],
  ['claude', /claude/, tokenizer(3.9, 7, 0, 50, 500, 6, 2, 1.22, 38)],
  ['gemini', /gemini|gemma|learnlm/, tokenizer(4.2, 0, 1.2, 38, 0, 6, null, 1.05, 7)],
  ['grok-3-mini', /grok-3-mini/, tokenizer(4.6, 4, 4, 40, 10, 2.6, 4, 1, 20)],
  ['grok', /grok-[23]/, tokenizer(4.6, 3, 3.5, 40, 50, 4.5, 4, 1, 20)],
  ['grok-4-0709', /grok-4(?:-0|-latest|$)/, tokenizer(4.6, 650, 8, 40, 180, 3, 4, 1, 20)],
  ['grok-4', /grok/, tokenizer(4.4, 165, 6, 45, 115, 4.6, 4.5, 1, 20)],
  ['sonar', /sonar/, tokenizer(4.6, 0, 0, 10, 20, 4, null, 1.06, 10)],
  ['llama', /llama-?3-/, tokenizer(4.2, 2, 5, 10, 60, 3.5, 5, 1.04, 11)],
  ['llama-4', /llama-?4/, tokenizer(4.4, 7, 3, 50, 580, 2.4, 5, 1.04, 11)],
  ['deepseek', /deepseek/, tokenizer(4.4, 6, 0, 17, 180, 3, 4.8, 1, 21.5)],
  ['llama-3.1', /llama/, tokenizer(4.4, 30, 5, 17, 130, 4, 5, 1.04, 11)],
  ['qwen', /qwen|qwq|qvq/, tokenizer(4.4, 5, 4, 30, 92, 3.7, 5, 1.05, 10)],
  ['kimi', /kimi|moonshot/, tokenizer(4.4, 20, 1, 10, 40, 6, 5, 1.1, 7)],
  ['glm', /glm/, tokenizer(4.2, 4, 1.8, 26, 80, 3.4, 5, 1.06, 8)],
  ['mistral', /(mis|mix|codes|devs|magis|pix|vox)tral|ministral/, tokenizer(4.2, 4, 0, 17, 7, 3.6, null, 1.09, 3)],
  ['command', /command|cohere|^c4ai/, tokenizer(4.4, 0, 0, 15, 0, 6.6, 5, 1.02, 2)],
  ['gpt', /gpt|^(openai\/)?o\d|davinci|babbage|text-embedding/, tokenizer(4.5, 4.4, 2.7, 20, 9, 8, 6, 1.05, 7.2)],
];

/** Any other model, as an average of the above. */
const otherModels: Tokenizer = tokenizer(4.3, 10, 4, 20, 80, 4, 5, 1.06, 10);

/** The family of a model, for reports. */
export const tokenizerFamily = (model: string): string =>
  families.find(([, models]) => models.test(model.toLowerCase()))?.[0] ?? 'other';

export const tokenizerOf = (model: string): Tokenizer =>
  families.find(([, models]) => models.test(model.toLowerCase()))?.[2] ?? otherModels;

/** Tokens of a prompt without its images. @param isChat false for dialects without messages, whose text has no template */
export const promptTokens = (
  { messages, calls, textBytes, toolBytes, schemaBytes }: Prompt,
  tokenizer: Tokenizer,
  isChat: boolean,
): number => {
  const text = textBytes / tokenizer.bytesPerToken;
  if (!isChat) return text;
  return (
    tokenizer.tokensPerChat +
    tokenizer.tokensPerMessage * Math.max(1, messages) +
    tokenizer.tokensPerCall * calls +
    text +
    (toolBytes > EMPTY_LIST_BYTES ? tokenizer.tokensForTools + toolBytes / tokenizer.toolBytesPerToken : 0) +
    (tokenizer.schemaBytesPerToken === null ? 0 : schemaBytes / tokenizer.schemaBytesPerToken)
  );
};

const EMPTY_LIST_BYTES = '[]'.length;

import type { Prompt } from './usage-event.ts';

/** How a family of models counts a prompt. Measured: see docs/metering.md. */
export interface Tokenizer {
  /** UTF-8 bytes of text for each token, of prompts and responses. */
  readonly bytesPerToken: number;
  /** Tokens that the chat template adds to a conversation, and to each message. */
  readonly tokensPerChat: number;
  readonly tokensPerMessage: number;
  /** Tokens of an earlier call of a tool and its result, in addition to their text. */
  readonly tokensPerCall: number;
  /** Tokens that the first tool adds, and bytes of the tools' JSON for each token. */
  readonly tokensForTools: number;
  readonly toolBytesPerToken: number;
  /** Bytes of the response's JSON schema for each token; null where the schema is no input. */
  readonly schemaBytesPerToken: number | null;
}

const tokenizer = (
  bytesPerToken: number,
  tokensPerChat: number,
  tokensPerMessage: number,
  tokensPerCall: number,
  tokensForTools: number,
  toolBytesPerToken: number,
  schemaBytesPerToken: number | null,
): Tokenizer => ({
  bytesPerToken,
  tokensPerChat,
  tokensPerMessage,
  tokensPerCall,
  tokensForTools,
  toolBytesPerToken,
  schemaBytesPerToken,
});

/**
 * The families of models by a pattern of their names; the first match counts. `npm run meter -- --calibrate FILE…` measures the
 * numbers over recordings. Claude's prompt for tools is 313 to 530 tokens.
 * @see https://docs.anthropic.com/en/docs/agents-and-tools/tool-use/overview#pricing
 */
const families: readonly (readonly [name: string, models: RegExp, tokenizer: Tokenizer])[] = [
  ['gpt-oss', /gpt-oss/, tokenizer(4.6, 60, 8, 10, 10, 6, 5)],
  ['claude', /claude/, tokenizer(3.8, 4, 4, 10, 370, 2.4, 2)],
  ['gemini', /gemini|gemma|learnlm/, tokenizer(4.1, 0, 1.5, 20, 8, 8, null)],
  ['grok', /grok-[23](?!-mini)/, tokenizer(4.6, 3, 3, 10, 60, 3.5, 4)],
  ['grok-4', /grok/, tokenizer(4.8, 140, 8, 40, 40, 3, 4)],
  ['sonar', /sonar/, tokenizer(4.6, 0, 0, 10, 20, 4, null)],
  ['llama', /llama-?3-/, tokenizer(4.2, 2, 5, 10, 60, 3.5, 5)],
  ['llama-3.1', /llama/, tokenizer(4.3, 24, 8, 10, 120, 4, 5)],
  ['qwen', /qwen|qwq|qvq/, tokenizer(4.6, 6, 4, 25, 120, 3.5, 5)],
  ['kimi', /kimi|moonshot/, tokenizer(4.4, 2, 4, 10, 40, 3.7, 5)],
  ['deepseek', /deepseek/, tokenizer(4.4, 5, 2, 10, 250, 4, 5)],
  ['mistral', /(mis|mix|codes|devs|magis|pix|vox)tral|ministral/, tokenizer(3.9, 1.5, 3, 10, 25, 2.8, null)],
  ['command', /command|cohere|^c4ai/, tokenizer(4.3, 0, 1, 10, 4, 9, null)],
  ['gpt', /gpt|^(openai\/)?o\d|davinci|babbage|text-embedding/, tokenizer(4.5, 5, 3.5, 6, 10, 8, 6)],
];

/** Any other model, as an average of the above. */
const otherModels: Tokenizer = tokenizer(4.3, 4, 4, 10, 80, 3.5, 5);

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

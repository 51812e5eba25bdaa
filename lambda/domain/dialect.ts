/**
 * The wire formats the meter reads. A dialect is recognised by the shape of the path, not by the provider, since
 * providers offer each other's formats (Gemini has OpenAI-style paths, OpenRouter has Anthropic's messages …).
 *
 * `free`: a call that providers do not charge for (listing models, uploading a file, counting tokens).
 * `unknown`: a path we do not know; its usage is still looked for by content.
 */
export const dialects = [
  'openai-chat',
  'openai-completions',
  'openai-responses',
  'openai-embeddings',
  'openai-images',
  'openai-transcription',
  'openai-speech',
  'openai-moderations',
  'openai-batch-output',
  'anthropic-messages',
  'anthropic-batch-output',
  'gemini-generate',
  'gemini-embed',
  'gemini-predict',
  'gemini-interactions',
  'cohere-chat',
  'cohere-generate',
  'cohere-embed',
  'cohere-rerank',
  'free',
  'unknown',
] as const;

export type Dialect = (typeof dialects)[number];

type Row = readonly [method: RegExp, path: RegExp, dialect: Dialect];

const POST = /^POST$/;
const GET = /^GET$/;

/** First match wins. Paths are matched by their ends: providers put versions and products in front (`/openai/v1`, `/inference/v1`). */
const rows: readonly Row[] = [
  [POST, /\/(count_tokens|input_tokens)$/, 'free'],
  [POST, /\/(chat|fim|agents)\/completions$/, 'openai-chat'],
  [POST, /\/completions$/, 'openai-completions'],
  [POST, /\/responses(\/compact)?$/, 'openai-responses'],
  [POST, /\/responses\/[^/]+\/cancel$/, 'openai-responses'],
  [GET, /\/responses\/[^/]+$/, 'openai-responses'],
  [POST, /\/embeddings$/, 'openai-embeddings'],
  [POST, /\/images\/(generations|edits|variations)$/, 'openai-images'],
  [POST, /\/audio\/(transcriptions|translations)$/, 'openai-transcription'],
  [POST, /\/audio\/speech$/, 'openai-speech'],
  [POST, /\/(chat\/)?moderations$/, 'openai-moderations'],
  [GET, /\/files\/[^/]+\/content$/, 'openai-batch-output'],
  [GET, /\/messages\/batches\/[^/]+\/results$/, 'anthropic-batch-output'],
  [POST, /\/threads\/[^/]+\/messages$/, 'free'],
  [POST, /\/v\d[^/]*\/messages$/, 'anthropic-messages'],
  [POST, /:(streamGenerateContent|generateContent)$/, 'gemini-generate'],
  [POST, /:(embedContent|batchEmbedContents|asyncBatchEmbedContent)$/, 'gemini-embed'],
  [POST, /:predict$/, 'gemini-predict'],
  [POST, /:(countTokens|countMessageTokens|countTextTokens)$/, 'free'],
  [POST, /\/interactions$/, 'gemini-interactions'],
  [GET, /\/interactions\/[^/]+$/, 'gemini-interactions'],
  [POST, /\/v\d+\/chat$/, 'cohere-chat'],
  [POST, /\/generate$/, 'cohere-generate'],
  [POST, /\/embed$/, 'cohere-embed'],
  [POST, /\/rerank$/, 'cohere-rerank'],
  // Creating a batch costs nothing by itself: its results do, and are metered when they are fetched.
  [POST, /\/(files|uploads|batches|vector_stores|tokenize|detokenize|check-api-key|threads|assistants)$/, 'free'],
  [POST, /\/(uploads|files|vector_stores|assistants)\/[^?]+$/, 'free'],
  [POST, /\/batches\/[^/]+\/cancel$/, 'free'],
  [/^(GET|HEAD|OPTIONS|DELETE)$/, /^/, 'free'],
];

/**
 * @param method HTTP method in upper case
 * @param path as forwarded, without the query string
 */
export const dialectOf = (method: string, path: string): Dialect => {
  const trimmed = path.endsWith('/') ? path.slice(0, -1) : path;
  return rows.find(([methods, paths]) => methods.test(method) && paths.test(trimmed))?.[2] ?? 'unknown';
};

/** The model that a Gemini path names: `/v1beta/models/gemini-2.5-flash:generateContent` → `gemini-2.5-flash`. */
export const modelOfPath = (path: string): string | null =>
  /\/(?:models|tunedModels)\/([^/:]+):\w+$/.exec(path)?.[1] ?? null;

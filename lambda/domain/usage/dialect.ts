/**
 * The wire formats that the meter reads. The path decides the dialect, not the provider, since providers offer each other's formats
 * (Gemini has OpenAI-style paths, OpenRouter has Anthropic's messages …).
 *
 * `free`: a call that providers do not charge for (listing models, uploading a file, counting tokens).
 * `unknown`: any other path; the meter still looks for usage in its content.
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
  /** The results of a batch inside one document, or Gemini's lines of them. */
  'inline-batch-output',
  /** A response that one call requests and others fetch: Perplexity's async chat, xAI's deferred chat and videos. */
  'async-result',
  'gemini-generate',
  'gemini-embed',
  'gemini-predict',
  'gemini-interactions',
  'gemini-cache',
  'cohere-chat',
  'cohere-generate',
  'cohere-embed',
  'cohere-rerank',
  'free',
  'unknown',
] as const;

export type Dialect = (typeof dialects)[number];

const dialectsWithoutOutput: ReadonlySet<Dialect> = new Set([
  'openai-embeddings',
  'openai-moderations',
  'gemini-embed',
  'gemini-cache',
  'cohere-embed',
  'cohere-rerank',
]);

/** True for endpoints that generate nothing: all their tokens are input. */
export const hasNoOutput = (dialect: Dialect): boolean => dialectsWithoutOutput.has(dialect);

/** In place of the HTTP method: a WebSocket connection, and each response on it. */
export const WEBSOCKET = 'WEBSOCKET';

type Row = readonly [method: RegExp, path: RegExp, dialect: Dialect];

const POST = /^POST$/;
const GET = /^GET$/;
const SOCKET = /^WEBSOCKET$/;

/** First match wins. Paths are matched by their end: providers put versions and products in front (`/openai/v1`, `/inference/v1`). */
const rows: readonly Row[] = [
  [SOCKET, /^\/v\d+\/(realtime|responses)$/, 'openai-responses'],
  [SOCKET, /\.BidiGenerateContent(Constrained)?$/, 'gemini-generate'],
  [POST, /\/(count_tokens|input_tokens)$/, 'free'],
  [POST, /\/async\/(chat\/completions|sonar)$/, 'async-result'],
  [GET, /\/async\/(chat\/completions|sonar)\/[^/]+$/, 'async-result'],
  [GET, /\/chat\/deferred-completion\/[^/]+$/, 'async-result'],
  [POST, /\/videos\/(generations|edits|extensions)$/, 'async-result'],
  [GET, /\/videos\/[^/]+$/, 'async-result'],
  [POST, /\/(chat|fim|agents)\/completions$/, 'openai-chat'],
  [POST, /\/v\d+\/sonar$/, 'openai-chat'],
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
  [GET, /\/batches\/[^/]+\/results$/, 'inline-batch-output'],
  // OpenRouter; then Gemini. OpenAI's batch object repeats the usage of its output file.
  [GET, /^\/api\/v\d+\/batches\/[^/]+$/, 'inline-batch-output'],
  [GET, /\/v\d+(alpha|beta)\d*\/batches\/[^/]+$/, 'inline-batch-output'],
  [GET, /\/files\/[^/]+:download$/, 'inline-batch-output'],
  [POST, /\/threads\/[^/]+\/messages$/, 'free'],
  [POST, /\/v\d[^/]*\/messages$/, 'anthropic-messages'],
  [POST, /:(streamGenerateContent|generateContent)$/, 'gemini-generate'],
  [POST, /:(embedContent|batchEmbedContents)$/, 'gemini-embed'],
  [POST, /:predict$/, 'gemini-predict'],
  [POST, /:(countTokens|countMessageTokens|countTextTokens)$/, 'free'],
  [POST, /:(batchGenerateContent|asyncBatchEmbedContent|cancel|register)$/, 'free'],
  [POST, /\/cachedContents$/, 'gemini-cache'],
  [/^(PATCH|PUT)$/, /\/cachedContents\/[^/]+$/, 'free'],
  [POST, /\/interactions$/, 'gemini-interactions'],
  [GET, /\/interactions\/[^/]+$/, 'gemini-interactions'],
  [POST, /\/v\d+\/chat$/, 'cohere-chat'],
  [POST, /\/generate$/, 'cohere-generate'],
  [POST, /\/embed$/, 'cohere-embed'],
  [POST, /\/rerank$/, 'cohere-rerank'],
  // Creating a batch is free; its results are metered when they are fetched.
  [
    POST,
    /\/(files|uploads|batches|batch\/jobs|vector_stores|fileSearchStores|tokenize|tokenize-text|detokenize|check-api-key|threads|assistants|agents|skills|datasets|connectors|libraries)$/,
    'free',
  ],
  [POST, /\/(uploads|files|vector_stores|assistants)\/[^?]+$/, 'free'],
  [POST, /\/(batches|batch\/jobs)\/[^/]+\/(cancel|requests)$/, 'free'],
  // Updates the metadata of a response that was charged when it was made.
  [POST, /\/chat\/completions\/[^/]+$/, 'free'],
  [POST, /\/threads\/(?!runs$)[^/]+$/, 'free'],
  [POST, /\/realtime\/(client_secrets|sessions|transcription_sessions)$/, 'free'],
  [POST, /\/v\d+\/organizations?\//, 'free'],
  [/^(GET|HEAD|OPTIONS|DELETE)$/, /^/, 'free'],
];

/**
 * @param method HTTP method in upper case, or WEBSOCKET
 * @param path as forwarded, without the query string
 */
export const dialectOf = (method: string, path: string): Dialect => {
  const trimmed = path.endsWith('/') ? path.slice(0, -1) : path;
  return rows.find(([methods, paths]) => methods.test(method) && paths.test(trimmed))?.[2] ?? 'unknown';
};

/** The model in a Gemini path: `/v1beta/models/gemini-2.5-flash:generateContent` → `gemini-2.5-flash`. */
export const modelOfPath = (path: string): string | null =>
  /\/(?:models|tunedModels)\/([^/:]+):\w+$/.exec(path)?.[1] ?? null;

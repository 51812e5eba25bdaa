import { MAX_MODEL_CHARACTERS } from './limits.ts';

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
  'bedrock-converse',
  /** The model's own format. */
  'bedrock-invoke',
  'free',
  'unknown',
] as const;

export type Dialect = (typeof dialects)[number];

const embeddings: ReadonlySet<Dialect> = new Set(['openai-embeddings', 'gemini-embed', 'cohere-embed']);
const othersWithoutOutput: ReadonlySet<Dialect> = new Set(['openai-moderations', 'gemini-cache', 'cohere-rerank']);

/** True for endpoints whose output is no text, and free. */
export const isEmbedding = (dialect: Dialect): boolean => embeddings.has(dialect);

/** True for endpoints that generate nothing: all their tokens are input. */
export const hasNoOutput = (dialect: Dialect): boolean => isEmbedding(dialect) || othersWithoutOutput.has(dialect);

/** In place of the HTTP method: a WebSocket connection, and each response on it. */
export const WEBSOCKET = 'WEBSOCKET';

type Row = readonly [method: RegExp, path: RegExp, dialect: Dialect];

const POST = /^POST$/;
const GET = /^GET$/;
const SOCKET = /^WEBSOCKET$/;
/** Gemini Live. Vertex AI's service is followed by a slash. */
const LIVE = /[./]BidiGenerateContent(Constrained)?$/;

/** First match wins. Paths are matched by their end: providers put versions and products in front (`/openai/v1`, `/inference/v1`). */
const rows: readonly Row[] = [
  [SOCKET, /^\/v\d+\/(realtime|responses|live\/sessions)$/, 'openai-responses'],
  [SOCKET, LIVE, 'gemini-generate'],
  [
    POST,
    /\/(count_tokens|input_tokens)$|^\/model\/.+\/count-tokens$|\/models\/count-tokens(@\w+)?:rawPredict$/,
    'free',
  ],
  [POST, /\/async\/(chat\/completions|sonar)$/, 'async-result'],
  // xAI; OpenRouter; Together. OpenAI's `/v1/videos` is charged by the seconds of its request or response.
  [POST, /\/videos\/(generations|edits|extensions)$|^\/(api\/v\d+|v2)\/videos$/, 'async-result'],
  [GET, /\/(async\/(chat\/completions|sonar)|chat\/deferred-completion|videos)\/[^/]+$/, 'async-result'],
  [POST, /\/(chat|fim|agents)\/completions$/, 'openai-chat'],
  [POST, /\/v\d+\/sonar$/, 'openai-chat'],
  // The last one is Anthropic's older API.
  [POST, /\/(completions|v1\/complete)$/, 'openai-completions'],
  // Perplexity makes them by the last path, and reads them by the same as all.
  [POST, /\/responses(\/compact|\/[^/]+\/cancel)?$|^\/v1\/agent$/, 'openai-responses'],
  [GET, /\/responses\/[^/]+$/, 'openai-responses'],
  [POST, /\/embeddings$/, 'openai-embeddings'],
  [POST, /\/images\/(generations|edits|variations)$/, 'openai-images'],
  [POST, /\/(audio\/(transcriptions|translations)|stt)$/, 'openai-transcription'],
  [POST, /\/(audio\/speech|tts)$/, 'openai-speech'],
  [POST, /\/(chat\/)?moderations$/, 'openai-moderations'],
  [GET, /(?<!\/containers\/[^/]+)\/files\/[^/]+\/content$/, 'openai-batch-output'],
  [GET, /\/messages\/batches\/[^/]+\/results$/, 'anthropic-batch-output'],
  // xAI; Mistral; Gemini
  [GET, /\/batches\/[^/]+\/results$|\/batch\/jobs\/[^/]+$|\/files\/[^/]+:download$/, 'inline-batch-output'],
  // OpenRouter; Gemini. OpenAI's batch object repeats the usage of its output file.
  [GET, /(^\/api\/v\d+|\/v\d+(alpha|beta)\d*)\/batches\/[^/]+$/, 'inline-batch-output'],
  [POST, /\/threads\/[^/]+\/messages(\/[^/]+)?$/, 'free'],
  [POST, /\/v\d[^/]*\/messages$/, 'anthropic-messages'],
  // Vertex AI: models of Anthropic, of others, and embeddings.
  [POST, /\/publishers\/anthropic\/models\/[^/]+:(rawPredict|streamRawPredict)$/, 'anthropic-messages'],
  [POST, /:(rawPredict|streamRawPredict)$/, 'openai-chat'],
  [POST, /embedding[^/]*:predict$/, 'gemini-embed'],
  [POST, /:(streamGenerateContent|generateContent)$/, 'gemini-generate'],
  [POST, /:(embedContent|batchEmbedContents)$/, 'gemini-embed'],
  [POST, /:predict$/, 'gemini-predict'],
  [POST, /:(count(Message|Text)?Tokens|computeTokens|fetchPredictOperation)$/, 'free'],
  [POST, /:(batchGenerateContent|asyncBatchEmbedContent|cancel|register)$/, 'free'],
  [POST, /\/cachedContents$/, 'gemini-cache'],
  [/^(PATCH|PUT)$/, /\/cachedContents\/[^/]+$/, 'free'],
  [POST, /\/interactions(\/[^/]+\/cancel)?$/, 'gemini-interactions'],
  [GET, /\/interactions\/[^/]+$/, 'gemini-interactions'],
  [POST, /\/v\d+\/chat$/, 'cohere-chat'],
  [POST, /\/generate$/, 'cohere-generate'],
  [POST, /\/embed$/, 'cohere-embed'],
  [POST, /\/rerank$/, 'cohere-rerank'],
  [POST, /^\/model\/.+\/converse(-stream)?$/, 'bedrock-converse'],
  [POST, /^\/model\/.+\/invoke(-with-response-stream)?$/, 'bedrock-invoke'],
  // Cohere's results of batches are files elsewhere.
  [POST, /^\/v2\/batches$/, 'unknown'],
  // Creating a batch is free; its results are metered when they are fetched.
  [
    POST,
    /\/(batches|batch\/jobs|fileSearchStores|tokenize|tokenize-text|detokenize|check-api-key|threads|agents|datasets|connectors|libraries|auth_tokens)$/,
    'free',
  ],
  [POST, /\/(uploads|files|vector_stores|assistants|skills)(\/[^?]+)?$/, 'free'],
  [POST, /\/(batches|batch\/jobs|fine_tuning\/jobs)\/[^/]+\/(cancel|pause|requests)$/, 'free'],
  // Changes what was charged before, or tells its usage so far.
  [POST, /\/(chat\/completions|sessions|threads(?!\/runs$))\/[^/]+(\/archive)?$/, 'free'],
  [
    POST,
    /\/realtime\/(translations\/)?(client_secrets|sessions|transcription_sessions|calls\/[^/]+\/(hangup|refer|reject))$/,
    'free',
  ],
  [POST, /\/v\d+\/(environments|memory_stores|user_profiles|vaults|webhook_endpoints|organizations?)(\/|$)/, 'free'],
  [/^(GET|HEAD|OPTIONS|DELETE)$/, /^/, 'free'],
];

/** As providers read it: any character may be percent-encoded, and dots lead elsewhere. What costs must not pass for what is free. */
const asRead = (path: string): string => {
  if (!/%|\/\./.test(path)) return path;
  const { pathname } = new URL(`http://provider${path}`);
  try {
    return decodeURIComponent(pathname);
  } catch {
    return pathname;
  }
};

/** The same without a slash at its end. */
const withoutSlash = (path: string): string => asRead(path).replace(/\/$/, '');

/**
 * @param method HTTP method in upper case, or WEBSOCKET
 * @param path as forwarded, without the query string
 */
export const dialectOf = (method: string, path: string): Dialect => {
  const trimmed = withoutSlash(path);
  return rows.find(([methods, paths]) => methods.test(method) && paths.test(trimmed))?.[2] ?? 'unknown';
};

/** True where the messages of a WebSocket's client name the model, not its address: Responses, and Gemini Live. */
export const namesModelInMessages = (path: string): boolean => {
  const trimmed = withoutSlash(path);
  return LIVE.test(trimmed) || trimmed.endsWith('/responses');
};

/** A model's name as limits and sums have it: without the path that calls of Google may have in front of it, such as `models/`. */
export const withoutPath = (provider: string, model: string): string =>
  provider === 'google' || provider === 'vertex'
    ? model.replace(/^((projects\/.+\/)?publishers\/[^/]+\/)?models\//, '')
    : model;

/** True for a path of Gemini, Vertex AI or Bedrock whose response is a stream. */
export const isStreamPath = (path: string): boolean =>
  /:stream(GenerateContent|RawPredict)$|-stream$/.test(asRead(path));

/**
 * The model in a path of Gemini, `/v1beta/models/gemini-2.5-flash:generateContent` → `gemini-2.5-flash`; of Bedrock,
 * `/model/us.amazon.nova-pro-v1%3A0/converse` → `us.amazon.nova-pro-v1:0`, also at the end of an ARN; and Azure's deployment.
 */
export const modelOfPath = (path: string): string | null => {
  const read = asRead(path);
  const place = read.startsWith('/model/')
    ? /\/([^/]+)\/[a-z-]+$/
    : read.startsWith('/openai/deployments/')
      ? /^\/openai\/deployments\/([^/]+)/
      : /\/(?:models|tunedModels)\/([^/:]+):\w+$/;
  return place.exec(read)?.[1]?.slice(0, MAX_MODEL_CHARACTERS) ?? null;
};

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
  'gemini-generate',
  'gemini-embed',
  'gemini-interactions',
  'cohere-chat',
  'cohere-generate',
  'cohere-embed',
  'cohere-rerank',
  'free',
  'unknown',
] as const;

export type Dialect = (typeof dialects)[number];

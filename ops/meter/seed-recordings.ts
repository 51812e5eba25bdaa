import type { Recording } from './recording.ts';

const recording = (provider: string, path: string, ctype: string, body: string, req: unknown = {}): Recording => ({
  id: `${provider} ${path}`,
  provider,
  method: 'POST',
  path,
  status: 200,
  ctype,
  req,
  bytes: Buffer.from(body),
});

const json = (value: unknown): string => JSON.stringify(value);
const sse = (...events: unknown[]): string =>
  events.map((event) => `data: ${typeof event === 'string' ? event : json(event)}\n\n`).join('');

const JSON_TYPE = 'application/json';
const SSE_TYPE = 'text/event-stream';

/** One small response of each kind, written by hand after the providers' documentation. */
export const seedRecordings: readonly Recording[] = [
  recording(
    'openai',
    '/v1/chat/completions',
    JSON_TYPE,
    json({
      id: 'c',
      created: 1_760_000_000,
      model: 'gpt-4o',
      choices: [{ message: { content: 'Grüße 👋' } }],
      usage: { prompt_tokens: 12, completion_tokens: 7, total_tokens: 19, prompt_tokens_details: { cached_tokens: 4 } },
      service_tier: 'default',
    }),
  ),
  recording(
    'openai',
    '/v1/chat/completions',
    SSE_TYPE,
    sse(
      { model: 'gpt-5', choices: [{ delta: { content: 'Hi' } }], usage: null },
      {
        model: 'gpt-5',
        choices: [],
        usage: { prompt_tokens: 3, completion_tokens: 9, completion_tokens_details: { reasoning_tokens: 8 } },
      },
      '[DONE]',
    ),
  ),
  recording(
    'openai',
    '/v1/responses',
    SSE_TYPE,
    sse(
      { type: 'response.created', response: { id: 'r', model: 'gpt-5', usage: null } },
      {
        type: 'response.completed',
        response: {
          id: 'r',
          model: 'gpt-5',
          status: 'completed',
          background: false,
          output: [{ type: 'web_search_call', action: { type: 'search' } }],
          usage: {
            input_tokens: 30,
            input_tokens_details: { cached_tokens: 5 },
            output_tokens: 11,
            output_tokens_details: { reasoning_tokens: 2 },
            total_tokens: 41,
          },
        },
      },
    ),
  ),
  recording(
    'openai',
    '/v1/images/generations',
    JSON_TYPE,
    json({ created: 1, data: [{ b64_json: 'aGk=' }], size: '1024x1024', quality: 'low' }),
    { model: 'dall-e-3' },
  ),
  recording(
    'openai',
    '/v1/audio/transcriptions',
    JSON_TYPE,
    json({ text: 'Hello', usage: { type: 'duration', seconds: 6 } }),
    { model: 'whisper-1' },
  ),
  recording(
    'anthropic',
    '/v1/messages',
    SSE_TYPE,
    `event: message_start\n${sse({ type: 'message_start', message: { model: 'claude-sonnet-4-5', usage: { input_tokens: 9, cache_read_input_tokens: 100, cache_creation_input_tokens: 20, output_tokens: 1 } } })}event: message_delta\n${sse({ type: 'message_delta', usage: { output_tokens: 44 } })}`,
  ),
  recording(
    'google',
    '/v1beta/models/gemini-2.5-flash:streamGenerateContent',
    JSON_TYPE,
    `[${json({ candidates: [{}], usageMetadata: { promptTokenCount: 6, totalTokenCount: 6 } })},\r\n${json({ modelVersion: 'gemini-2.5-flash', usageMetadata: { promptTokenCount: 6, candidatesTokenCount: 16, thoughtsTokenCount: 114, totalTokenCount: 136 } })}]`,
  ),
  recording(
    'google',
    '/v1beta/interactions',
    JSON_TYPE,
    json({
      id: 'i',
      model: 'gemini-3-flash-preview',
      status: 'completed',
      usage: { total_input_tokens: 31, total_output_tokens: 19, total_thought_tokens: 111, total_tokens: 161 },
    }),
  ),
  recording(
    'cohere',
    '/v2/chat',
    SSE_TYPE,
    sse(
      { type: 'content-delta', delta: { message: {} } },
      {
        type: 'message-end',
        delta: {
          usage: {
            billed_units: { input_tokens: 12, output_tokens: 64 },
            tokens: { input_tokens: 212, output_tokens: 64 },
          },
        },
      },
    ),
    { model: 'command-a-03-2025' },
  ),
  recording(
    'cohere',
    '/v1/chat',
    'application/stream+json',
    `${json({ event_type: 'text-generation', text: 'a' })}\n${json({ event_type: 'stream-end', response: { meta: { billed_units: { input_tokens: 5, output_tokens: 3 } } } })}\n`,
    { model: 'command-r' },
  ),
  recording(
    'groq',
    '/openai/v1/chat/completions',
    SSE_TYPE,
    sse(
      { model: 'llama-3.1-8b-instant', choices: [{}] },
      { choices: [], x_groq: { usage: { prompt_tokens: 5, completion_tokens: 6, queue_time: 0.01 } } },
      '[DONE]',
    ),
  ),
  recording(
    'xai',
    '/v1/chat/completions',
    JSON_TYPE,
    json({
      model: 'grok-4-fast',
      usage: {
        prompt_tokens: 165,
        completion_tokens: 2,
        total_tokens: 292,
        completion_tokens_details: { reasoning_tokens: 125 },
        cost_in_usd_ticks: 731_000,
      },
    }),
  ),
  recording(
    'openrouter',
    '/api/v1/chat/completions',
    SSE_TYPE,
    `: OPENROUTER PROCESSING\n\n${sse({ model: 'openai/gpt-4o', choices: [], usage: { prompt_tokens: 8, completion_tokens: 1, cost: 0.00003, is_byok: false } })}`,
  ),
  recording(
    'perplexity',
    '/chat/completions',
    JSON_TYPE,
    json({ model: 'sonar', usage: { prompt_tokens: 7, completion_tokens: 1, cost: { total_cost: 0.00501 } } }),
  ),
];

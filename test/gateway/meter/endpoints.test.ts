import { describe, expect, it } from '@jest/globals';
import { reasons } from '../../../lambda/domain/price/price-request.ts';
import type { Provenance, Usage } from '../../../lambda/domain/usage/usage.ts';
import type { Recording } from '../../../ops/meter/recording.ts';
import { replay } from '../../../ops/meter/replay.ts';

/*
 * Endpoints as the providers document them, from the bytes of the response to its price: one handmade response for each.
 */

interface Call {
  readonly provider: string;
  readonly method?: string;
  readonly path: string;
  readonly req?: unknown;
  readonly ctype?: string;
  readonly status?: number;
  readonly body: unknown;
}

interface Expected {
  readonly provenance: Provenance;
  readonly usage?: Partial<Usage>;
  readonly model?: string | null;
  readonly reason?: string;
  readonly costNanoUsd?: number;
  readonly complete?: boolean;
}

const sse = (...events: readonly unknown[]): string =>
  events.map((event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`).join('');

const jsonLines = (...documents: readonly unknown[]): string =>
  documents.map((document) => JSON.stringify(document)).join('\n');

const outcome = async ({ body, method = 'POST', status = 200, ctype = 'application/json', ...call }: Call) => {
  const recording: Recording = {
    id: call.path,
    startedAt: '2026-10-15T12:00:00.000Z',
    method,
    status,
    ctype,
    bytes: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
    ...call,
  };
  const { reading, priced } = await replay(recording, 1, '2026-10-15T12:00:00.000Z');
  return { ...priced, model: reading.modelServed ?? reading.modelRequested, complete: reading.complete, reading };
};

const STREAM = 'text/event-stream';
const chat = { prompt_tokens: 100, completion_tokens: 50, total_tokens: 150 };
const tokens = { inputTokens: 100, outputTokens: 50 };
const NONE = { prompt_tokens: 0, completion_tokens: 0 };

const GEMINI_25_TOKENS = 100 * 300 + 50 * 2500;
const GEMINI_3_TOKENS = 100 * 500 + 50 * 3000;

const gemini = (modelVersion: string, groundingMetadata: unknown): Call => ({
  provider: 'google',
  path: `/v1beta/models/${modelVersion}:generateContent`,
  body: {
    candidates: [{ index: 0, groundingMetadata }],
    modelVersion,
    usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 50, totalTokenCount: 150 },
  },
});

const cases: readonly (readonly [string, Call, Expected])[] = [
  [
    'Cohere v1 chat as server-sent events',
    {
      provider: 'cohere',
      path: '/v1/chat',
      ctype: STREAM,
      req: { model: 'command-r-08-2024', stream: true },
      body: sse(
        { is_finished: false, event_type: 'stream-start' },
        ...Array.from({ length: 12 }, () => ({ event_type: 'text-generation', text: 'a' })),
        {
          is_finished: true,
          event_type: 'stream-end',
          response: {
            meta: {
              billed_units: { input_tokens: 100, output_tokens: 50 },
              tokens: { input_tokens: 130, output_tokens: 50 },
            },
          },
        },
      ),
    },
    {
      provenance: 'computed',
      usage: { inputTokens: 130, outputTokens: 50, billedInputTokens: 100, billedOutputTokens: 50 },
    },
  ],
  [
    'OpenRouter, an error after many comments',
    {
      provider: 'openrouter',
      path: '/api/v1/chat/completions',
      ctype: STREAM,
      req: { model: 'openai/gpt-4o' },
      body: `${': OPENROUTER PROCESSING\n\n'.repeat(30)}${sse({ error: { code: 502, message: 'no' } })}`,
    },
    { provenance: 'free' },
  ],
  [
    'an error in JSON, though a stream was asked for and promised',
    {
      provider: 'google',
      path: '/v1beta/models/gemini-2.5-flash:streamGenerateContent',
      ctype: STREAM,
      body: JSON.stringify({ error: { code: 400, message: 'no', status: 'INVALID_ARGUMENT' } }, null, 2),
    },
    { provenance: 'free' },
  ],
  [
    'Anthropic, a stream that an error ends before its usage is told',
    {
      provider: 'anthropic',
      path: '/v1/messages',
      ctype: STREAM,
      body: sse(
        {
          type: 'message_start',
          message: { model: 'claude-haiku-4-5', usage: { input_tokens: 100, output_tokens: 1 } },
        },
        { type: 'content_block_delta', delta: { type: 'text_delta', text: 'a'.repeat(400) } },
        { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
      ),
    },
    {
      provenance: 'estimated',
      complete: false,
      usage: { inputTokens: 100, outputTokens: 120 },
      reason: reasons.estimatedUsage,
    },
  ],
  [
    'Mistral text recognition',
    {
      provider: 'mistral',
      path: '/v1/ocr',
      body: {
        pages: [{ index: 0, markdown: 'x' }],
        model: 'mistral-ocr-2505',
        usage_info: { pages_processed: 3, doc_size_bytes: null },
      },
    },
    { provenance: 'computed', usage: { units: { pages: 3 } } },
  ],
  [
    'Mistral conversations without connectors, whose outputs name the model',
    {
      provider: 'mistral',
      path: '/v1/conversations',
      body: {
        conversation_id: 'c',
        outputs: [{ type: 'message.output', model: 'mistral-medium-2505', content: 'x' }],
        usage: { ...chat, connector_tokens: null, connectors: null },
      },
    },
    { provenance: 'computed', usage: tokens, model: 'mistral-medium-2505' },
  ],
  [
    'Mistral conversations with a search, whose fee is not known',
    {
      provider: 'mistral',
      path: '/v1/conversations/c',
      ctype: STREAM,
      body: sse(
        { type: 'conversation.response.started', conversation_id: 'c' },
        { type: 'message.output.delta', model: 'mistral-medium-2505', content: 'x' },
        {
          type: 'conversation.response.done',
          usage: { ...chat, total_tokens: 7150, connector_tokens: 7000, connectors: { web_search: 1 } },
        },
      ),
    },
    {
      provenance: 'unknown',
      usage: { inputTokens: 7100, outputTokens: 50, units: { otherUnits: 1 } },
      reason: reasons.noRate,
    },
  ],
  [
    'Mistral speech-to-text, charged by the minute though it counts tokens',
    {
      provider: 'mistral',
      path: '/v1/audio/transcriptions',
      body: {
        model: 'voxtral-mini-2602',
        text: 'x',
        usage: { prompt_audio_seconds: 30, prompt_tokens: 4, completion_tokens: 20, total_tokens: 400 },
      },
    },
    {
      provenance: 'computed',
      costNanoUsd: 1_500_000,
      usage: { inputTokens: 380, inputAudioTokens: 376, outputTokens: 20, units: { audioSeconds: 30 } },
    },
  ],
  [
    'Mistral chat about audio, charged by the minute and the text by the token',
    {
      provider: 'mistral',
      path: '/v1/chat/completions',
      body: {
        model: 'voxtral-mini-2507',
        choices: [],
        usage: { prompt_audio_seconds: 60, prompt_tokens: 100, completion_tokens: 50, total_tokens: 525 },
      },
    },
    {
      provenance: 'computed',
      // A minute at 0.001 USD, 150 tokens at 0.04 USD a million.
      costNanoUsd: 1_000_000 + 150 * 40,
      usage: { inputTokens: 475, inputAudioTokens: 375, outputTokens: 50, units: { audioSeconds: 60 } },
    },
  ],
  [
    'a response that failed in the foreground: nothing comes later',
    {
      provider: 'openai',
      path: '/v1/responses',
      ctype: STREAM,
      body: sse(
        {
          type: 'response.created',
          response: { id: 'r', model: 'gpt-5', status: 'in_progress', background: false, usage: null },
        },
        { type: 'response.failed', response: { id: 'r', model: 'gpt-5', status: 'failed', usage: null } },
      ),
    },
    { provenance: 'unknown', reason: reasons.noUsage },
  ],
  [
    'OpenAI speech as a stream of events, which tells its tokens',
    {
      provider: 'openai',
      path: '/v1/audio/speech',
      ctype: STREAM,
      req: { model: 'gpt-4o-mini-tts', input: 'hello', stream_format: 'sse' },
      body: sse(
        { type: 'speech.audio.delta', audio: 'AAAA' },
        { type: 'speech.audio.done', usage: { input_tokens: 14, output_tokens: 101, total_tokens: 115 } },
      ),
    },
    {
      provenance: 'computed',
      // 14 tokens of text at 0.60, 101 of audio at 12 USD a million.
      costNanoUsd: 14 * 600 + 101 * 12_000,
      usage: { inputTokens: 14, outputTokens: 101, outputAudioTokens: 101 },
    },
  ],
  [
    'OpenAI speech-to-text, whose upload names the model',
    {
      provider: 'openai',
      path: '/v1/audio/transcriptions',
      req: '--b\r\nContent-Disposition: form-data; name="model"\r\n\r\nwhisper-1\r\n--b--\r\n',
      body: { text: 'x', usage: { type: 'duration', seconds: 7 } },
    },
    { provenance: 'computed', model: 'whisper-1', costNanoUsd: 700_000, usage: { units: { audioSeconds: 7 } } },
  ],
  [
    'OpenAI speech-to-text as a stream',
    {
      provider: 'openai',
      path: '/v1/audio/transcriptions',
      ctype: STREAM,
      req: { model: 'gpt-4o-transcribe' },
      body: sse(
        { type: 'transcript.text.delta', delta: 'a' },
        {
          type: 'transcript.text.done',
          text: 'a',
          usage: {
            type: 'tokens',
            input_tokens: 100,
            output_tokens: 50,
            total_tokens: 150,
            input_token_details: { text_tokens: 10, audio_tokens: 90 },
          },
        },
      ),
    },
    { provenance: 'computed', usage: { ...tokens, inputAudioTokens: 90 } },
  ],
  [
    'OpenAI images as a stream',
    {
      provider: 'openai',
      path: '/v1/images/generations',
      ctype: STREAM,
      req: { model: 'gpt-image-1', stream: true },
      body: sse(
        { type: 'image_generation.partial_image', b64_json: 'A'.repeat(70_000), size: '1024x1024' },
        {
          type: 'image_generation.completed',
          b64_json: 'A'.repeat(70_000),
          usage: {
            input_tokens: 50,
            output_tokens: 50,
            total_tokens: 100,
            input_tokens_details: { text_tokens: 10, image_tokens: 40 },
          },
        },
      ),
    },
    {
      provenance: 'computed',
      usage: { inputTokens: 50, inputImageTokens: 40, outputTokens: 50, outputImageTokens: 50 },
    },
  ],
  [
    'a response that was made in the foreground, read again at a provider that does not say so',
    {
      provider: 'xai',
      method: 'GET',
      path: '/v1/responses/r',
      body: {
        id: 'r',
        model: 'grok-4',
        status: 'completed',
        usage: { input_tokens: 100, output_tokens: 50, cost_in_usd_ticks: 10_000 },
      },
    },
    { provenance: 'free' },
  ],
  [
    'a response that was made in the background, fetched',
    {
      provider: 'openai',
      method: 'GET',
      path: '/v1/responses/r',
      body: {
        id: 'r',
        model: 'gpt-5',
        status: 'completed',
        background: true,
        usage: { input_tokens: 100, output_tokens: 50 },
      },
    },
    { provenance: 'computed', usage: tokens },
  ],
  [
    'xAI deferred chat, asked for',
    {
      provider: 'xai',
      path: '/v1/chat/completions',
      req: { model: 'grok-4', deferred: true },
      body: { request_id: 'q' },
    },
    { provenance: 'unknown', reason: reasons.pending },
  ],
  [
    'xAI deferred chat, fetched',
    {
      provider: 'xai',
      method: 'GET',
      path: '/v1/chat/deferred-completion/q',
      body: { id: 'x', model: 'grok-4', choices: [], usage: { ...chat, cost_in_usd_ticks: 1_050_000 } },
    },
    { provenance: 'provider', costNanoUsd: 105_000, usage: tokens },
  ],
  [
    'xAI deferred chat, not yet there',
    { provider: 'xai', method: 'GET', path: '/v1/chat/deferred-completion/q', status: 202, body: '' },
    { provenance: 'free' },
  ],
  [
    'xAI video, fetched',
    {
      provider: 'xai',
      method: 'GET',
      path: '/v1/videos/q',
      body: {
        status: 'done',
        model: 'grok-imagine-video',
        video: { url: 'u' },
        usage: { cost_in_usd_ticks: 500_000_000 },
      },
    },
    { provenance: 'provider', costNanoUsd: 50_000_000 },
  ],
  [
    "Perplexity's async chat, asked for",
    {
      provider: 'perplexity',
      path: '/async/chat/completions',
      body: { id: 'a', model: 'sonar-deep-research', status: 'CREATED', response: null },
    },
    { provenance: 'unknown', reason: reasons.pending },
  ],
  [
    "Perplexity's async chat, fetched",
    {
      provider: 'perplexity',
      method: 'GET',
      path: '/async/chat/completions/a',
      body: {
        id: 'a',
        status: 'COMPLETED',
        response: { id: 'b', model: 'sonar-deep-research', usage: { ...chat, cost: { total_cost: 0.25 } } },
      },
    },
    { provenance: 'provider', costNanoUsd: 250_000_000, usage: tokens },
  ],
  [
    'Gemini, embeddings without usage',
    {
      provider: 'google',
      path: '/v1beta/models/gemini-embedding-001:batchEmbedContents',
      req: { requests: [{ content: { parts: [{ text: 'a'.repeat(41) }] } }, { content: { parts: [{ text: 'b' }] } }] },
      body: { embeddings: [{ values: [0.5] }, { values: [0.25] }] },
    },
    { provenance: 'estimated', usage: { inputTokens: 10, outputTokens: 0 }, costNanoUsd: 10 * 150 },
  ],
  [
    'Gemini, a cache is filled: all of it is input, and its storage is not seen',
    {
      provider: 'google',
      path: '/v1beta/cachedContents',
      body: {
        name: 'cachedContents/c',
        model: 'models/gemini-2.5-flash',
        usageMetadata: { totalTokenCount: 5000 },
      },
    },
    {
      provenance: 'estimated',
      reason: reasons.storage,
      usage: { inputTokens: 5000, outputTokens: 0 },
      costNanoUsd: 5000 * 300,
    },
  ],
  [
    'Gemini, the lifetime of a cache is changed',
    {
      provider: 'google',
      method: 'PATCH',
      path: '/v1beta/cachedContents/c',
      body: { name: 'cachedContents/c', model: 'models/gemini-2.5-flash', usageMetadata: { totalTokenCount: 5000 } },
    },
    { provenance: 'free' },
  ],
  [
    'Gemini, a batch is made',
    {
      provider: 'google',
      path: '/v1beta/models/gemini-2.5-flash:batchGenerateContent',
      body: { name: 'batches/b', metadata: { model: 'models/gemini-2.5-flash', state: 'BATCH_STATE_PENDING' } },
    },
    { provenance: 'free' },
  ],
  [
    'Gemini, a batch is asked after',
    {
      provider: 'google',
      method: 'GET',
      path: '/v1beta/batches/b',
      body: { name: 'batches/b', metadata: { state: 'BATCH_STATE_RUNNING' } },
    },
    { provenance: 'free' },
  ],
  [
    'Gemini, a batch with its answers inside',
    {
      provider: 'google',
      method: 'GET',
      path: '/v1beta/batches/b',
      body: {
        name: 'batches/b',
        metadata: { model: 'models/gemini-2.5-flash' },
        done: true,
        response: {
          inlinedResponses: {
            inlinedResponses: [
              { response: { candidates: [], usageMetadata: { promptTokenCount: 60, candidatesTokenCount: 30 } } },
              { error: { code: 3 } },
              { response: { candidates: [], usageMetadata: { promptTokenCount: 40, candidatesTokenCount: 20 } } },
            ],
          },
        },
      },
    },
    // Half of 0.30 and 2.50 USD a million.
    { provenance: 'computed', usage: tokens, costNanoUsd: 100 * 150 + 50 * 1250 },
  ],
  [
    "Gemini, the file of a batch's responses",
    {
      provider: 'google',
      method: 'GET',
      path: '/download/v1beta/files/f:download',
      ctype: 'application/octet-stream',
      body: jsonLines(
        {
          key: '1',
          response: {
            modelVersion: 'gemini-2.5-flash',
            usageMetadata: { promptTokenCount: 60, candidatesTokenCount: 30 },
          },
        },
        {
          response: {
            usageMetadata: { promptTokenCount: 40, candidatesTokenCount: 20 },
            modelVersion: 'gemini-2.5-flash',
          },
          key: '2',
        },
      ),
    },
    { provenance: 'computed', usage: tokens, costNanoUsd: 100 * 150 + 50 * 1250 },
  ],
  [
    'OpenRouter, a batch with its answers inside, which cost what each says',
    {
      provider: 'openrouter',
      method: 'GET',
      path: '/api/v1/batches/b',
      body: {
        id: 'b',
        status: 'completed',
        usage: { prompt_tokens: 100, completion_tokens: 50 },
        results: [
          {
            id: '1',
            response: { status_code: 200, body: { model: 'openai/gpt-4o', usage: { ...chat, cost: 0.001 } } },
          },
          {
            id: '2',
            response: { status_code: 200, body: { model: 'openai/gpt-4o', usage: { ...NONE, cost: 0.002 } } },
          },
        ],
      },
    },
    { provenance: 'provider', usage: tokens, costNanoUsd: 3_000_000 },
  ],
  [
    "xAI, a page of a batch's responses",
    {
      provider: 'xai',
      method: 'GET',
      path: '/v1/batches/b/results',
      body: {
        results: [
          {
            batch_request_id: '1',
            batch_result: {
              response: { chat_get_completion: { model: 'grok-4', usage: { ...chat, cost_in_usd_ticks: 1_000_000 } } },
            },
          },
        ],
        pagination_token: null,
      },
    },
    { provenance: 'provider', usage: tokens, costNanoUsd: 100_000 },
  ],
  [
    "OpenAI's batch object, which repeats the usage of its output file",
    {
      provider: 'openai',
      method: 'GET',
      path: '/v1/batches/b',
      body: { id: 'b', usage: { input_tokens: 100, output_tokens: 50 } },
    },
    { provenance: 'free' },
  ],
  [
    'OpenAI, a stored completion whose metadata is changed',
    { provider: 'openai', path: '/v1/chat/completions/c', body: { id: 'c', model: 'gpt-4o', usage: chat } },
    { provenance: 'free' },
  ],
  [
    'OpenAI, a conversation',
    { provider: 'openai', path: '/v1/conversations', body: { id: 'conv', object: 'conversation' } },
    { provenance: 'free' },
  ],
  [
    'OpenAI, a thread is made and run at once: its cost is not told yet',
    { provider: 'openai', path: '/v1/threads/runs', body: { id: 'run', status: 'queued', usage: null } },
    { provenance: 'unknown' },
  ],
  [
    'Anthropic, refused before any output: tokens are counted, and not charged',
    {
      provider: 'anthropic',
      path: '/v1/messages',
      body: {
        model: 'claude-opus-5',
        content: [],
        stop_reason: 'refusal',
        usage: { input_tokens: 564, cache_read_input_tokens: 0, cache_creation_input_tokens: 0, output_tokens: 0 },
      },
    },
    { provenance: 'free', usage: { inputTokens: 564, outputTokens: 0 }, costNanoUsd: 0 },
  ],
  [
    'Anthropic, the same as a stream',
    {
      provider: 'anthropic',
      path: '/v1/messages',
      ctype: STREAM,
      body: sse(
        { type: 'message_start', message: { model: 'claude-opus-5', usage: { input_tokens: 564, output_tokens: 0 } } },
        { type: 'message_delta', delta: { stop_reason: 'refusal' }, usage: { output_tokens: 0 } },
        { type: 'message_stop' },
      ),
    },
    { provenance: 'free', usage: { inputTokens: 564, outputTokens: 0 } },
  ],
  [
    'Anthropic, refused in the midst of its output, which is charged',
    {
      provider: 'anthropic',
      path: '/v1/messages',
      body: {
        model: 'claude-opus-5',
        content: [{ type: 'text', text: 'Hello..' }],
        stop_reason: 'refusal',
        usage: { input_tokens: 564, cache_read_input_tokens: 0, cache_creation_input_tokens: 0, output_tokens: 10 },
      },
    },
    { provenance: 'computed', costNanoUsd: 564 * 5000 + 10 * 25_000 },
  ],
  [
    'Anthropic, the answers of a batch, one of them refused before any output',
    {
      provider: 'anthropic',
      method: 'GET',
      path: '/v1/messages/batches/b/results',
      ctype: 'application/x-jsonl',
      body: jsonLines(
        ...['end_turn', 'refusal'].map((stop_reason) => ({
          custom_id: stop_reason,
          result: {
            type: 'succeeded',
            message: {
              model: 'claude-opus-5',
              stop_reason,
              usage: { input_tokens: 100, output_tokens: stop_reason === 'refusal' ? 0 : 50 },
            },
          },
        })),
      ),
    },
    { provenance: 'computed', usage: tokens, costNanoUsd: (100 * 5000 + 50 * 25_000) / 2 },
  ],
  ...(
    [
      ['has results', 'ended', 5, { provenance: 'unknown', reason: reasons.batchResults }],
      ['has ended without a result', 'ended', 0, { provenance: 'free' }],
      ['is in progress', 'in_progress', 0, { provenance: 'free' }],
    ] as const
  ).map(([case_, processing_status, succeeded, expected]): readonly [string, Call, Expected] => [
    `Anthropic, a batch that ${case_}`,
    {
      provider: 'anthropic',
      method: 'GET',
      path: '/v1/messages/batches/msgbatch_1',
      body: {
        id: 'msgbatch_1',
        type: 'message_batch',
        processing_status,
        request_counts: { processing: 0, succeeded, errored: 1, canceled: 0, expired: 0 },
        results_url: 'https://api.anthropic.com/v1/messages/batches/msgbatch_1/results',
      },
    },
    expected,
  ]),
  [
    'Anthropic, another model answered after one that declined before any output',
    {
      provider: 'anthropic',
      path: '/v1/messages',
      req: { model: 'claude-fable-5', fallbacks: [{ model: 'claude-opus-4-8' }] },
      body: {
        model: 'claude-opus-4-8',
        stop_reason: 'end_turn',
        usage: {
          input_tokens: 412,
          output_tokens: 264,
          iterations: [
            { type: 'message', model: 'claude-fable-5', input_tokens: 535, output_tokens: 0 },
            { type: 'fallback_message', model: 'claude-opus-4-8', input_tokens: 412, output_tokens: 264 },
          ],
        },
      },
    },
    {
      provenance: 'computed',
      usage: { inputTokens: 535 + 412, outputTokens: 264 },
      costNanoUsd: 412 * 5000 + 264 * 25_000,
    },
  ],
  [
    'Anthropic, another model went on with a stream after one that declined in the midst of it: each at its own price',
    {
      provider: 'anthropic',
      path: '/v1/messages',
      ctype: STREAM,
      req: { model: 'claude-fable-5', stream: true },
      body: sse(
        {
          type: 'message_start',
          message: {
            model: 'claude-fable-5',
            usage: {
              input_tokens: 20,
              cache_creation_input_tokens: 1000,
              cache_creation: { ephemeral_5m_input_tokens: 1000, ephemeral_1h_input_tokens: 0 },
              output_tokens: 1,
              inference_geo: 'us',
            },
          },
        },
        {
          type: 'message_delta',
          delta: { stop_reason: 'end_turn' },
          usage: {
            input_tokens: 1200,
            cache_creation_input_tokens: 0,
            output_tokens: 264,
            server_tool_use: { web_search_requests: 1 },
            iterations: [
              { type: 'message', input_tokens: 20, cache_creation_input_tokens: 1000, output_tokens: 400 },
              { type: 'fallback_message', model: 'claude-opus-4-8', input_tokens: 1200, output_tokens: 264 },
            ],
          },
        },
        { type: 'message_stop' },
      ),
    },
    {
      provenance: 'computed',
      usage: { inputTokens: 20 + 1000 + 1200, outputTokens: 400 + 264, cacheWriteTokens: 1000 },
      costNanoUsd:
        1.1 * 10 * (20 * 1000 + 1000 * 1250 + 400 * 5000) + 1.1 * 10 * (1200 * 500 + 264 * 2500) + 10_000_000,
    },
  ],
  [
    'OpenAI Responses, cut short by its own limit: what it wrote, cached and searched is charged',
    {
      provider: 'openai',
      path: '/v1/responses',
      ctype: STREAM,
      body: sse(
        { type: 'response.created', response: { id: 'r', status: 'in_progress', model: 'gpt-5.6-sol', usage: null } },
        {
          type: 'response.incomplete',
          response: {
            id: 'r',
            status: 'incomplete',
            incomplete_details: { reason: 'max_output_tokens' },
            model: 'gpt-5.6-sol',
            output: [{ type: 'web_search_call', action: { type: 'search' } }],
            usage: {
              input_tokens: 1000,
              input_tokens_details: { cached_tokens: 300, cache_write_tokens: 500 },
              output_tokens: 50,
              output_tokens_details: { reasoning_tokens: 50 },
              total_tokens: 1050,
            },
          },
        },
      ),
    },
    {
      provenance: 'computed',
      usage: { inputTokens: 1000, outputTokens: 50, cacheReadTokens: 300, cacheWriteTokens: 500, reasoningTokens: 50 },
      costNanoUsd: 200 * 4000 + 300 * 400 + 500 * 5000 + 50 * 20_000 + 10_000_000,
    },
  ],
  [
    'Groq, an error in the midst of a stream, after which no usage comes',
    {
      provider: 'groq',
      path: '/openai/v1/chat/completions',
      ctype: STREAM,
      req: { model: 'llama-3.1-8b-instant', stream: true, messages: [{ role: 'user', content: 'x'.repeat(40) }] },
      body: sse(
        { model: 'llama-3.1-8b-instant', choices: [{ delta: { content: 'y'.repeat(20) } }], x_groq: { id: 'r' } },
        { error: { message: 'Failed to call a function.', type: 'invalid_request_error' } },
        '[DONE]',
      ),
    },
    { provenance: 'estimated', usage: { inputTokens: 45, outputTokens: 4 } },
  ],
  [
    'OpenRouter, an error in the midst of a stream, as data beside a choice',
    {
      provider: 'openrouter',
      path: '/api/v1/chat/completions',
      ctype: STREAM,
      req: { model: 'openai/gpt-4o', stream: true, messages: [{ role: 'user', content: 'x'.repeat(40) }] },
      body: `: OPENROUTER PROCESSING\n\n${sse(
        { model: 'openai/gpt-4o', choices: [{ delta: { content: 'y'.repeat(20) } }] },
        { model: 'openai/gpt-4o', error: { code: 502 }, choices: [{ delta: { content: '' }, finish_reason: 'error' }] },
        '[DONE]',
      )}`,
    },
    { provenance: 'estimated', usage: { inputTokens: 16, outputTokens: 4 } },
  ],
  [
    'Gemini, an answer found by Google Search: by the prompt until Gemini 2.5',
    gemini('gemini-2.5-flash', {
      webSearchQueries: ['a', 'b'],
      searchEntryPoint: { renderedContent: '<div>' },
      groundingChunks: [{ web: { uri: 'https://a.example', title: 'a' } }],
    }),
    {
      provenance: 'estimated',
      usage: { units: { groundedPrompts: 1, groundingQueries: 2 } },
      costNanoUsd: GEMINI_25_TOKENS + 35_000_000,
      reason: reasons.allowance,
    },
  ],
  [
    'Gemini, an answer found on Google Maps: by the prompt until Gemini 2.5',
    gemini('gemini-2.5-flash', { groundingChunks: [{ maps: { uri: 'https://maps.example', title: 'Cafe' } }] }),
    {
      provenance: 'estimated',
      usage: { units: { mapsPrompts: 1, mapsQueries: 1 } },
      costNanoUsd: GEMINI_25_TOKENS + 25_000_000,
      reason: reasons.allowance,
    },
  ],
  [
    'Gemini, an answer found on Google Maps: by the query from Gemini 3 on',
    gemini('gemini-3-flash-preview', { groundingChunks: [{ maps: { uri: 'https://maps.example', title: 'Cafe' } }] }),
    { provenance: 'estimated', costNanoUsd: GEMINI_3_TOKENS + 14_000_000 },
  ],
  [
    "Gemini, an answer found in the client's own files, which costs nothing but its tokens",
    gemini('gemini-2.5-flash', { groundingChunks: [{ retrievedContext: { title: 'mine.txt', text: 'Paris' } }] }),
    { provenance: 'computed', usage: { units: {} }, costNanoUsd: GEMINI_25_TOKENS },
  ],
  [
    'Gemini, a store of files is made; filling it is charged, and its answer does not say how much',
    { provider: 'google', path: '/v1beta/fileSearchStores', body: { name: 'fileSearchStores/mine' } },
    { provenance: 'free' },
  ],
  [
    'Gemini, a file is put into a store',
    {
      provider: 'google',
      path: '/upload/v1beta/fileSearchStores/mine:uploadToFileSearchStore',
      body: { name: 'fileSearchStores/mine/upload/operations/o', response: { sizeBytes: '79' } },
    },
    { provenance: 'unknown' },
  ],
  [
    "Perplexity's newer path, a stream left before anything was told",
    {
      provider: 'perplexity',
      path: '/v1/sonar',
      ctype: STREAM,
      req: { model: 'sonar', stream: true, messages: [{ role: 'user', content: 'x'.repeat(40) }] },
      body: sse({ model: 'sonar', choices: [{ delta: { content: 'y'.repeat(20) } }] }),
    },
    { provenance: 'estimated', usage: { inputTokens: 9, outputTokens: 4 } },
  ],
  [
    'Gemini interactions, which count the searches themselves',
    {
      provider: 'google',
      path: '/v1beta/interactions',
      body: {
        id: 'v1_a',
        status: 'completed',
        model: 'gemini-3-flash-preview',
        usage: {
          total_input_tokens: 100,
          total_output_tokens: 50,
          total_tokens: 150,
          grounding_tool_count: [
            { type: 'google_search', count: 3 },
            { type: 'google_maps', count: 2 },
            { type: 'retrieval', count: 1 },
          ],
        },
      },
    },
    {
      provenance: 'estimated',
      usage: { units: { groundedPrompts: 1, groundingQueries: 3, mapsPrompts: 1, mapsQueries: 2 } },
      costNanoUsd: GEMINI_3_TOKENS + 5 * 14_000_000,
      reason: reasons.allowance,
    },
  ],
  [
    "a tier that the answer's usage tells, not the one asked for",
    {
      provider: 'google',
      path: '/v1beta/models/gemini-2.5-flash:generateContent',
      req: { contents: [], service_tier: 'flex' },
      body: {
        modelVersion: 'gemini-2.5-flash',
        usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 50, serviceTier: 'standard' },
      },
    },
    { provenance: 'computed', costNanoUsd: 100 * 300 + 50 * 2500 },
  ],
];

describe('endpoints', () => {
  it.each(cases)('%s', async (_, call, { usage, ...expected }) => {
    const got = await outcome(call);
    expect(got).toMatchObject(expected);
    if (usage) expect(got.usage).toMatchObject(usage);
  });
});

describe("a batch's responses", () => {
  const line = (model: string, input: number) => ({
    custom_id: 'c',
    result: { type: 'succeeded', message: { model, usage: { input_tokens: input, output_tokens: 10 } } },
  });
  const results = (...lines: unknown[]): Call => ({
    provider: 'anthropic',
    method: 'GET',
    path: '/v1/messages/batches/b/results',
    ctype: 'application/x-jsonl',
    body: jsonLines(...lines),
  });

  it('of two models have two prices', async () => {
    const haiku = await outcome(results(line('claude-haiku-4-5', 100)));
    const opus = await outcome(results(line('claude-opus-4-5', 100)));
    const both = await outcome(
      results(line('claude-haiku-4-5', 100), line('claude-opus-4-5', 100), line('claude-haiku-4-5', 100)),
    );
    expect(both.usage).toMatchObject({ inputTokens: 300, outputTokens: 30 });
    expect(both).toMatchObject({
      provenance: 'computed',
      costNanoUsd: 2 * (haiku.costNanoUsd as number) + (opus.costNanoUsd as number),
    });
  });

  it('are long or short by themselves, not all together', async () => {
    const short = await outcome(results(line('claude-haiku-5-5', 60_000)));
    const two = await outcome(results(line('claude-haiku-5-5', 60_000), line('claude-haiku-5-5', 60_000)));
    expect(two.costNanoUsd).toBe(2 * (short.costNanoUsd as number));
    const long = await outcome(results(line('claude-haiku-5-5', 120_000)));
    const mixed = await outcome(results(line('claude-haiku-5-5', 60_000), line('claude-haiku-5-5', 120_000)));
    expect(long.costNanoUsd).toBeGreaterThan(2 * (short.costNanoUsd as number));
    expect(mixed.costNanoUsd).toBe((short.costNanoUsd as number) + (long.costNanoUsd as number));
  });

  it('of very many models are not all known, and not nothing', async () => {
    const lines = Array.from({ length: 40 }, (_, index) => line(`claude-haiku-4-5-${index}`, 100));
    expect(await outcome(results(...lines))).toMatchObject({
      provenance: 'unknown',
      usage: { inputTokens: 4000, outputTokens: 400 },
    });
  });
});

import { describe, expect, it } from '@jest/globals';
import { reasons } from '../../../lambda/domain/price/price-request.ts';
import type { Provenance, Usage } from '../../../lambda/domain/usage/usage.ts';
import type { Recording } from '../../../ops/meter/recording.ts';
import { replay } from '../../../ops/meter/replay.ts';
import rows from './endpoints.json' with { type: 'json' };

/*
 * Endpoints as the providers document them, from the bytes of the response to its price: one handmade response for each. Those that are
 * long or broken are below, the others in `endpoints.json`.
 */

/** `events` are sent as a stream, and `lines` as a file of JSON documents. */
interface Call {
  readonly provider: string;
  readonly method?: string;
  readonly path: string;
  readonly req?: unknown;
  readonly ctype?: string;
  readonly status?: number;
  readonly startedAt?: string;
  readonly body?: unknown;
  readonly events?: readonly unknown[];
  readonly lines?: readonly unknown[];
}

interface Case extends Call {
  readonly name: string;
  readonly expected: {
    readonly provenance: Provenance;
    readonly usage?: Partial<Usage> | null;
    readonly model?: string | null;
    readonly reason?: keyof typeof reasons;
    readonly costNanoUsd?: number;
    readonly complete?: boolean;
  };
  /** Their products add up to the cost in nano-USD. */
  readonly cost?: readonly (readonly [count: number, price: number])[];
}

const sse = (events: readonly unknown[]): string =>
  events.map((event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`).join('');
const jsonLines = (lines: readonly unknown[]): string => lines.map((line) => JSON.stringify(line)).join('\n');

/** The body of a response, and its media type. */
const sent = ({ body, events, lines, ctype = 'application/json' }: Call): readonly [text: string, ctype: string] => {
  if (events) return [sse(events), 'text/event-stream'];
  if (lines) return [jsonLines(lines), 'application/x-jsonl'];
  return [typeof body === 'string' ? body : JSON.stringify(body), ctype];
};

const outcome = async ({ method = 'POST', status = 200, startedAt = '2026-10-15T12:00:00.000Z', ...call }: Call) => {
  const [text, ctype] = sent(call);
  const recording: Recording = { ...call, id: call.path, startedAt, method, status, ctype, bytes: Buffer.from(text) };
  const { reading, priced } = await replay(recording, 1, startedAt);
  return { ...priced, model: reading.modelServed ?? reading.modelRequested, complete: reading.complete, reading };
};

const COMMENT = ': OPENROUTER PROCESSING\n\n';
const openRouter = {
  provider: 'openrouter',
  path: '/api/v1/chat/completions',
  ctype: 'text/event-stream',
  req: { model: 'openai/gpt-4o', stream: true, messages: [{ role: 'user', content: 'x'.repeat(40) }] },
};
const cases: readonly Case[] = [
  ...(rows as unknown as readonly Case[]),
  {
    name: 'OpenRouter, an error after many comments',
    ...openRouter,
    body: `${COMMENT.repeat(30)}${sse([{ error: { code: 502, message: 'no' } }])}`,
    expected: { provenance: 'free' },
  },
  {
    name: 'OpenRouter, an error in the midst of a stream, as data beside a choice',
    ...openRouter,
    body: `${COMMENT}${sse([
      { model: 'openai/gpt-4o', choices: [{ delta: { content: 'y'.repeat(20) } }] },
      { model: 'openai/gpt-4o', error: { code: 502 }, choices: [{ delta: { content: '' }, finish_reason: 'error' }] },
      '[DONE]',
    ])}`,
    expected: { provenance: 'estimated', usage: { inputTokens: 16, outputTokens: 4 } },
  },
  ...([1, 2] as const).map(
    (images): Case => ({
      name: `OpenAI images as a stream of ${images}, whose events do not say whether their usage is of one image`,
      provider: 'openai',
      path: '/v1/images/generations',
      req: { model: 'gpt-image-1', stream: true },
      events: Array.from({ length: images }, () => [
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
      ]).flat(),
      expected: {
        provenance: images === 1 ? 'computed' : 'estimated',
        usage: { inputTokens: 50, inputImageTokens: 40, outputTokens: 50, outputImageTokens: 50 },
      },
    }),
  ),
];

describe('endpoints', () => {
  it.each(cases)('$name', async ({ expected: { usage, reason, ...expected }, cost, ...call }) => {
    const got = await outcome(call);
    expect(got).toMatchObject({
      ...expected,
      ...(reason && { reason: reasons[reason] }),
      ...(cost && { costNanoUsd: cost.reduce((sum, [count, price]) => sum + count * price, 0) }),
    });
    if (usage !== undefined) expect(got).toMatchObject({ usage });
  });
});

describe('a call that is free or reads what another one is charged for', () => {
  it.each([
    ['openai', 'GET', '/v1/responses/r'],
    ['openai', 'GET', '/v1/chat/completions/c'],
    ['openai', 'POST', '/v1/chat/completions/c'],
    ['openai', 'GET', '/v1/batches/b'],
    ['openai', 'POST', '/v1/conversations'],
    ['openai', 'POST', '/v1/skills/a/versions'],
    ['openai', 'POST', '/v1/threads/a/messages/b'],
    ['openai', 'POST', '/v1/agents/sessions/a'],
    ['openai', 'POST', '/v1/realtime/translations/client_secrets'],
    ['openai', 'POST', '/v1/realtime/calls/c/hangup'],
    ['openai', 'POST', '/v1/vaults/v/credentials'],
    ['openai', 'POST', '/v1/fine_tuning/jobs/j/cancel'],
    ['anthropic', 'GET', '/v1/sessions/s'],
    ['anthropic', 'POST', '/v1/sessions/s'],
    ['anthropic', 'POST', '/v1/sessions/s/archive'],
    ['anthropic', 'POST', '/v1/environments/e/work/w/heartbeat'],
    ['anthropic', 'POST', '/v1/memory_stores'],
    ['google', 'POST', '/v1beta/models/gemini-2.5-flash:batchGenerateContent'],
    ['google', 'POST', '/v1beta/fileSearchStores'],
    ['google', 'POST', '/v1alpha/auth_tokens'],
    ['vertex', 'POST', '/v1/projects/p/locations/l/publishers/google/models/veo-3.1:fetchPredictOperation'],
    ['xai', 'GET', '/v1/responses/r'],
  ])('has no usage of its own: %s %s %s', async (provider, method, path) => {
    const usage = { input_tokens: 100, output_tokens: 50, total_tokens: 150, cost_in_usd_ticks: 10_000 };
    const body = { id: 'a', model: 'm', usage };
    expect(await outcome({ provider, method, path, body })).toMatchObject({ provenance: 'free', usage: null });
  });

  it.each([
    ['openai', '/v1/agents/sessions/a/events'],
    ['anthropic', '/v1/sessions'],
    ['cohere', '/v2/batches'],
    ['anthropic', '/v1/sessions/s/events'],
    ['google', '/v1beta/models/veo-3.1:predictLongRunning'],
    ['openai', '/v1/fine_tuning/jobs'],
  ])('is not a call that starts work: %s %s', async (provider, path) => {
    expect(await outcome({ provider, path, body: { id: 'a', error: {} } })).toMatchObject({ provenance: 'unknown' });
  });
});

describe('usage that is too long to be read', () => {
  const message = { type: 'message', model: 'claude-sonnet-4-5', content: [{ type: 'text', text: 'hello' }] };
  const iterations = Array.from({ length: 999 }, () => ({ type: 'message', input_tokens: 100, output_tokens: 10 }));
  const usage = { input_tokens: 100, output_tokens: 10, iterations };
  const start = { ...message, usage: { input_tokens: 100, output_tokens: 1 } };
  const req = { model: 'claude-sonnet-4-5', messages: [{ role: 'user', content: 'hello' }] };

  it.each<[string, Partial<Call>]>([
    ['a body', { body: { ...message, usage } }],
    [
      'a stream',
      {
        events: [
          { type: 'message_start', message: start },
          { type: 'message_delta', usage },
        ],
      },
    ],
  ])('is not known, and not estimated by what is seen: %s', async (_, response) => {
    const call = { provider: 'anthropic', path: '/v1/messages', req, ...response };
    expect(await outcome(call)).toMatchObject({ provenance: 'unknown', reason: reasons.unreadableUsage });
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
    lines,
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

  it('are priced by the book where one of them reports no cost', async () => {
    const usage = { prompt_tokens: 100, completion_tokens: 10 };
    const lines = [{ ...usage, cost: 1 }, usage, { ...usage, cost: 1 }].map((usage) => ({
      response: { status_code: 200, body: { model: 'openai/gpt-4o', usage } },
    }));
    const call = { provider: 'openrouter', method: 'GET', path: '/api/v1/batches/b' };
    const costs = [lines, lines.slice(0, 2), lines.slice(1)].map((results) => outcome({ ...call, body: { results } }));
    for (const cost of costs) expect(await cost).toMatchObject({ provenance: 'estimated' });
  });

  it('of very many models are not all known, and not nothing', async () => {
    const lines = Array.from({ length: 40 }, (_, index) => line(`claude-haiku-4-5-${index}`, 100));
    expect(await outcome(results(...lines))).toMatchObject({
      provenance: 'unknown',
      usage: { inputTokens: 4000, outputTokens: 400 },
    });
  });
});

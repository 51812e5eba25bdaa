import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { billedProviders } from '../../../lambda/domain/reconciliation/bill.ts';
import { BillError } from '../../../lambda/integrations/bills/bill-source.ts';
import { openBillSource } from '../../../lambda/integrations/bills/bill-sources.ts';
import { type BilledDay, CREDENTIAL, type MockBills, startMockBills } from './mock-bills.ts';

const day = (date: string, usd: number): BilledDay => ({
  day: date,
  model: 'gpt-4o-2024-08-06',
  usd,
  input: 900,
  cached: 100,
  output: 50,
  requests: 7,
});
const month = { from: '2026-10-01', to: '2026-10-31' };

let mock: MockBills;
beforeAll(async () => {
  mock = await startMockBills();
});
afterAll(() => mock.stop());
beforeEach(() => {
  mock.days = ['01', '02', '03', '04', '31'].map((date) => day(`2026-10-${date}`, 0.1));
  mock.failures = [];
  mock.body = null;
  mock.requests.length = 0;
});

const read = (provider: (typeof billedProviders)[number], credential = CREDENTIAL) =>
  openBillSource(provider, new Map(billedProviders.map((label) => [label, mock.origin]))).read(credential, month);
const problemOf = async (provider: (typeof billedProviders)[number], credential?: string): Promise<BillError> => {
  const error = await read(provider, credential).catch((caught: unknown) => caught);
  if (error instanceof BillError) return error;
  throw error;
};

describe.each(billedProviders)('the bill of %s', (provider) => {
  it('has the lines of all days and pages, to the nano-dollar', async () => {
    const { lines } = await read(provider);
    expect(lines.map((line) => line.day)).toEqual(mock.days.map((each) => each.day));
    for (const line of lines) expect(line).toMatchObject({ model: 'gpt-4o-2024-08-06', amountNanoUsd: 100_000_000 });
  });

  it('shows corrections', async () => {
    mock.days[1] = day('2026-10-02', 0.25);
    expect((await read(provider)).lines.map(({ amountNanoUsd }) => amountNanoUsd)).toContain(250_000_000);
  });

  it('is read again after rate limits and errors', async () => {
    mock.failures = [429, 503];
    expect((await read(provider)).lines).toHaveLength(5);
  });

  it('says that it is not available', async () => {
    mock.failures = [500, 502, 503, 429];
    expect(await problemOf(provider)).toMatchObject({ isRefused: false, message: 'The provider responded with 429.' });
  });

  it('says that the response was interrupted, not that it has another shape', async () => {
    mock.failures = [0];
    expect((await problemOf(provider)).message).toBe('The provider’s response was interrupted.');
  });

  it('says that the credential is refused, without it', async () => {
    const error = await problemOf(provider, 'sk-secret');
    expect(error).toMatchObject({ isRefused: true, message: expect.stringContaining('401') });
    expect(error.message).not.toContain('sk-secret');
  });

  it.each(['', '{', '[]', '{"data":[{}]}', '{"data":[{"results":[{"amount":"x"}]}]}'])(
    'does not guess at %j',
    async (body) => {
      mock.body = body;
      expect((await problemOf(provider)).message).toContain('another shape');
    },
  );
});

describe('token counts', () => {
  it.each(['openai', 'anthropic'] as const)('of %s separate cached tokens', async (provider) => {
    const { usage } = await read(provider);
    expect(usage).toHaveLength(5);
    expect(usage[0]).toEqual({
      day: '2026-10-01',
      model: 'gpt-4o-2024-08-06',
      tokens: { input: 900, cacheRead: 100, cacheWrite: 0, output: 50 },
      requests: provider === 'openai' ? 7 : null,
    });
  });
});

it('counts what OpenAI wrote to a cache apart', async () => {
  mock.days = [{ ...day('2026-10-01', 1), written: 300 }];
  expect((await read('openai')).usage[0]?.tokens).toEqual({ input: 900, cacheRead: 100, cacheWrite: 300, output: 50 });
});

it('has what the own keys of OpenRouter are billed, next to the fee', async () => {
  // It has all of its last 30 days, whatever it is asked for.
  mock.days = [day('2026-09-30', 1), { ...day('2026-10-01', 0.35), ownKeyUsd: 7 }, day('2026-11-01', 1)];
  expect((await read('openrouter')).lines.map(({ item, amountNanoUsd }) => [item, amountNanoUsd])).toEqual([
    ['gpt-4o-2024-08-06 at OpenAI', 350_000_000],
    ['gpt-4o-2024-08-06 at OpenAI, own key', 7_000_000_000],
  ]);
});

it('names no model for a fee of OpenAI', async () => {
  mock.body = JSON.stringify({
    data: [
      {
        start_time: Date.parse('2026-10-01') / 1_000,
        results: [
          'web search tool calls',
          'storage',
          'assistants api | file search',
          'o3-2025-04-16, input',
          'ft:gpt-4o:acme, output',
        ].map((line_item) => ({ amount: { value: '0.06', currency: 'usd' }, line_item, project_id: null })),
      },
    ],
  });
  const { lines } = await read('openai');
  expect(lines.map(({ model, amountNanoUsd }) => [model, amountNanoUsd])).toEqual([
    [null, 60_000_000],
    [null, 60_000_000],
    [null, 60_000_000],
    ['o3-2025-04-16', 60_000_000],
    ['ft:gpt-4o:acme', 60_000_000],
  ]);
});

it.each([
  ['anthropic', { starting_at: '2026-10-01T00:00:00Z', results: [{ amount: '1', currency: 'EUR', description: 'x' }] }],
  [
    'openai',
    {
      start_time: Date.parse('2026-10-01') / 1_000,
      results: [{ amount: { value: '1', currency: 'eur' }, line_item: 'x', project_id: null }],
    },
  ],
] as const)('does not take another currency of %s for dollars', async (provider, day) => {
  mock.body = JSON.stringify({ data: [day] });
  expect((await problemOf(provider)).message).toMatch(/The bill is in EUR/i);
});

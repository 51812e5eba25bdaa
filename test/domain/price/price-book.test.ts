import { describe, expect, it } from '@jest/globals';
import { bundledBook, priceRequest } from '../../../fixtures/bundled-prices.ts';
import { bundledLists } from '../../../lambda/domain/price/bundled-lists.ts';
import { openPriceBook, waitingOverrides } from '../../../lambda/domain/price/price-book.ts';
import { reasons } from '../../../lambda/domain/price/price-request.ts';
import { request } from '../usage/metered-usage.ts';

const CHANGED = '2026-11-20T10:00:00Z';
const nine = { input_mtok: 9 };
const models = [
  {
    id: 'new-model',
    match: { starts_with: 'new-model' },
    prices: { input_mtok: 2, output_mtok: 4 },
    earlier: [
      { until: '2026-11-10T00:00:00Z', prices: { input_mtok: 8, output_mtok: 16 } },
      { until: CHANGED, prices: { input_mtok: 1, output_mtok: 2 } },
    ],
  },
  { id: 'new-model-2026-11-01', match: { or: [{ equals: 'new-model-2026-11-01' }] }, prices: nine },
  { id: 'new-model-pro', match: { equals: 'new-model-pro' }, prices: nine },
  { id: 'other-model', match: { regex: '^other-model-\\d{4}-\\d{2}-\\d{2}$' }, prices: nine },
  { id: 'ft:new-model', match: { starts_with: 'ft:new-model' }, prices: nine },
];
const earlier = [{ until: CHANGED, prices: { input: 1, output: 1 } }];
const second = {
  'new-model-5': { input: 7, output: 7 },
  other: { input: 3, output: 3, over200k: { input: 5 }, earlier },
};
const book = openPriceBook(
  {
    genaiPrices: { openai: { id: 'openai', name: 'OpenAI', api_pattern: '', models } },
    secondPrices: { name: 'models.dev', prices: { openai: second } },
  },
  '7',
);

const inputUsdPerMtok = (model: string, at: string, inputTokens = 1_000) => {
  const rate = book({ provider: 'openai', model, at: new Date(at), inputTokens })?.rates.input;
  return rate === undefined ? null : Number(rate) / 1e12;
};

describe('openPriceBook', () => {
  it.each([
    ['a name', 'new-model', 'genai-prices:openai/new-model', 'name'],
    ['a date', 'new-model-2026-10-07', 'genai-prices:openai/new-model', 'version'],
    ['a date without dashes', 'new-model-20261007', 'genai-prices:openai/new-model', 'version'],
    ['the latest version', 'new-model-latest', 'genai-prices:openai/new-model', 'version'],
    ['a dated preview', 'new-model-preview-10-2026', 'genai-prices:openai/new-model', 'version'],
    ['another size', 'new-model-mini', 'genai-prices:openai/new-model', 'pattern'],
    ['another generation', 'new-model-2', 'genai-prices:openai/new-model', 'pattern'],
    ['a name of the second list', 'new-model-5', 'models.dev:openai/new-model-5', 'name'],
    ['a version of such a name', 'new-model-5-20261007', 'models.dev:openai/new-model-5', 'name'],
    ['the latest of such a name', 'new-model-5-latest', 'models.dev:openai/new-model-5', 'name'],
    ['a name behind a pattern of the same list', 'new-model-pro', 'genai-prices:openai/new-model-pro', 'name'],
    [
      'a version that has a price of its own',
      'new-model-2026-11-01',
      'genai-prices:openai/new-model-2026-11-01',
      'name',
    ],
    ['a version by the pattern for versions', 'other-model-2026-11-01', 'genai-prices:openai/other-model', 'version'],
    ['a model that somebody tuned', 'ft:new-model:acme::1', 'genai-prices:openai/ft:new-model', 'version'],
  ])('finds a model by %s', (_, model, source, match) => {
    expect(book({ provider: 'openai', model, at: new Date(), inputTokens: 1 })).toMatchObject({
      ...{ source, match, version: '7' },
    });
  });

  it.each([
    ['before the first change', '2026-11-09T23:59:59Z', 8],
    ['before the second change', '2026-11-20T09:59:59Z', 1],
    ['at the second change', CHANGED, 2],
  ])('has the price that held %s', (_, at, usd) => {
    expect(inputUsdPerMtok('new-model', at)).toBe(usd);
  });

  it('has earlier prices of the second list, without the new price of long prompts', () => {
    expect(inputUsdPerMtok('other', '2026-11-20T09:59:59Z', 300_000)).toBe(1);
    expect(inputUsdPerMtok('other', CHANGED, 300_000)).toBe(5);
  });

  it('has the overrides of the repository, whatever its lists', () => {
    expect(book({ provider: 'anthropic', model: 'claude-mythos-5', at: new Date(), inputTokens: 1 })?.source).toBe(
      'overrides:anthropic/claude-mythos-5',
    );
  });

  const since = '2026-11-25T10:00:00Z';
  it.each([
    ['a later day', 'claude-sonnet-5-5', 1_000, { input: 2, output: 10, cacheRead: 0.1 }, null, []],
    ['an earlier day', 'claude-sonnet-5-5', 1_000, { input: 2, output: 10, cacheRead: 0.2 }, 'overrideWaits', [1_000]],
    ['long prompts', 'claude-haiku-5-5', 200_000, { input: 0.5, output: 2.5, cacheRead: 0.05 }, null, [1_000]],
    ['short prompts', 'claude-haiku-5-5', 200_000, { input: 0.1, output: 0.5 }, 'overrideWaits', [100_002]],
  ])('judges only overrides that no other replaces: a list with the price of %s', (...row) => {
    const [, model, inputTokens, to, doubt, sizes] = row;
    const prices = { anthropic: { [model]: { ...to, since } } };
    const lists = { genaiPrices: {}, secondPrices: { name: 'models.dev', prices } };
    const at = new Date(since);
    expect(openPriceBook(lists, '7')({ provider: 'anthropic', model, at, inputTokens })?.doubt).toBe(doubt);
    expect(waitingOverrides(lists, at).map((waiting) => waiting.inputTokens)).toEqual(sizes);
  });

  it('does not know models of other lists', () => {
    expect(inputUsdPerMtok('gpt-4o', CHANGED)).toBeNull();
    expect(
      openPriceBook(bundledLists, 'bundled')({ provider: 'openai', model: 'gpt-4o', at: new Date(), inputTokens: 1 }),
    ).toEqual(bundledBook({ provider: 'openai', model: 'gpt-4o', at: new Date(), inputTokens: 1 }));
  });
});

describe('priceRequest', () => {
  const asked = request({
    startedAt: CHANGED,
    reading: { usage: { prompt_tokens: 10, completion_tokens: 1 }, modelServed: 'new-model' },
  });

  it('prices by the book that is passed, and keeps its version', () => {
    expect(priceRequest(asked, book)).toMatchObject({ costNanoUsd: 10 * 2_000 + 4_000, priceVersion: '7' });
  });

  it('estimates the price of a model that only a pattern finds', () => {
    const priced = (model: string) =>
      priceRequest({ ...asked, reading: { ...asked.reading, modelServed: model } }, book);
    expect(priced('new-model-mini')).toMatchObject({
      costNanoUsd: 24_000,
      provenance: 'estimated',
      reason: reasons.similarModel,
    });
    expect(priced('new-model-20261007')).toMatchObject({ costNanoUsd: 24_000, provenance: 'computed', reason: null });
  });

  it.each(['claude-sonnet-5-7', 'gemini-3.8-flash-lite', 'gemini-2.5-pro-ultra'])(
    'estimates the price of %s, which is in no list',
    (model) => {
      const provider = model.startsWith('claude') ? 'anthropic' : 'google';
      const { provenance } = priceRequest({
        ...asked,
        provider,
        reading: { ...asked.reading, usage: { prompt_tokens: 10, completion_tokens: 1 }, modelServed: model },
      });
      expect(provenance).toBe('estimated');
    },
  );

  it.each([
    ['2026-10-06T23:59:59Z', 0.2],
    ['2026-10-07T00:00:00Z', 0.1],
  ])('knows what Claude Sonnet 5.5 took for cached tokens at %s', (startedAt, usd) => {
    const usage = { input_tokens: 5_000, cache_read_input_tokens: 200_000, output_tokens: 2_150 };
    for (const model of ['claude-sonnet-5-5', 'claude-sonnet-5-5-20260922'])
      expect(
        priceRequest({
          ...asked,
          ...{ provider: 'anthropic', startedAt },
          reading: { ...asked.reading, dialect: 'anthropic-messages', usage, modelServed: model },
        }),
      ).toMatchObject({ costNanoUsd: 200_000 * usd * 1_000 + 31_500_000, provenance: 'computed' });
  });

  it('charges what OpenAI caches for twelve hours twice what it caches for 30 minutes', () => {
    const written = {
      input_tokens: 100_000,
      input_tokens_details: {
        ...{ cached_tokens: 0, cache_write_tokens: 90_000 },
        cache_write_tokens_details: { ttl_12h_tokens: 60_000, ttl_30m_tokens: 30_000 },
      },
      output_tokens: 1_000,
      total_tokens: 101_000,
    };
    const { costNanoUsd, provenance, lines } = priceRequest({
      ...asked,
      reading: { ...asked.reading, dialect: 'openai-responses', usage: written, modelServed: 'gpt-6-sol' },
    });
    expect({ costNanoUsd, provenance }).toEqual({
      costNanoUsd: 10_000 * 2_000 + 30_000 * 2_500 + 60_000 * 5_000 + 1_000 * 10_000,
      provenance: 'computed',
    });
    expect(lines).toContainEqual({ kind: 'cacheWrite12h', quantity: 60_000, rateNanoUsdPerUnit: 5_000 });
  });

  it('prices by the book in the code by default', () => {
    expect(priceRequest(asked)).toMatchObject({ provenance: 'unknown', priceVersion: null });
    expect(priceRequest({ ...asked, reading: { ...asked.reading, modelServed: 'gpt-4o' } }).priceVersion).toBe(
      'bundled',
    );
  });
});

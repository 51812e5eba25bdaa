import { describe, expect, it } from '@jest/globals';
import { bundledBook, priceRequest } from '../../../fixtures/bundled-prices.ts';
import { bundledLists } from '../../../lambda/domain/price/bundled-lists.ts';
import { openPriceBook } from '../../../lambda/domain/price/price-book.ts';
import { request } from '../usage/metered-usage.ts';

const CHANGED = '2026-11-20T10:00:00Z';
const book = openPriceBook(
  {
    genaiPrices: {
      openai: {
        id: 'openai',
        name: 'OpenAI',
        api_pattern: '',
        models: [
          {
            id: 'new-model',
            match: { starts_with: 'new-model' },
            prices: { input_mtok: 2, output_mtok: 4 },
            earlier: [
              { until: '2026-11-10T00:00:00Z', prices: { input_mtok: 8, output_mtok: 16 } },
              { until: CHANGED, prices: { input_mtok: 1, output_mtok: 2 } },
            ],
          },
        ],
      },
    },
    secondPrices: {
      name: 'models.dev',
      prices: {
        openai: {
          other: {
            input: 3,
            output: 3,
            over200k: { input: 5 },
            earlier: [{ until: CHANGED, prices: { input: 1, output: 1 } }],
          },
        },
      },
    },
  },
  '7',
);

const inputUsdPerMtok = (model: string, at: string, inputTokens = 1_000) => {
  const rate = book({ provider: 'openai', model, at: new Date(at), inputTokens })?.rates.input;
  return rate === undefined ? null : Number(rate) / 1e12;
};

describe('openPriceBook', () => {
  it('finds a model by the patterns of its list', () => {
    expect(book({ provider: 'openai', model: 'new-model-mini', at: new Date(), inputTokens: 1 })).toMatchObject({
      source: 'genai-prices:openai/new-model',
      version: '7',
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

  it('prices by the book in the code by default', () => {
    expect(priceRequest(asked)).toMatchObject({ provenance: 'unknown', priceVersion: null });
    expect(priceRequest({ ...asked, reading: { ...asked.reading, modelServed: 'gpt-4o' } }).priceVersion).toBe(
      'bundled',
    );
  });
});

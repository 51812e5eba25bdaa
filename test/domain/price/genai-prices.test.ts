import { describe, expect, it } from '@jest/globals';
import { calcPrice, findProvider, type MatchLogic } from '@pydantic/genai-prices';
import { bundledLists } from '../../../lambda/domain/price/bundled-lists.ts';
import { genaiProviderId, openGenaiPrices } from '../../../lambda/domain/price/genai-prices.ts';
import { providers } from '../../../lambda/domain/providers.ts';

const find = openGenaiPrices(bundledLists.genaiPrices);

/** Names that a pattern is about, and names near them. */
const namesIn = (match: MatchLogic): string[] => {
  if ('or' in match) return match.or.flatMap(namesIn);
  if ('and' in match) return match.and.flatMap(namesIn);
  const [text = ''] = Object.values(match);
  return [text, `${text}-latest`, `${text}-20250805`, `my-${text}`];
};

const times = ['2024-12-31T23:59:59Z', '2025-06-01T00:30:00Z', '2026-11-22T16:29:59Z', '2026-11-22T16:30:00Z'];

const listed = providers.flatMap(({ label }) => {
  const provider = findProvider({ providerId: genaiProviderId(label) });
  return provider ? [{ label, provider }] : [];
});

describe('openGenaiPrices', () => {
  it.each(listed)('finds the models and prices of $label that the package finds', ({ label, provider }) => {
    const names = provider.models.flatMap(({ id, match }) => [id, ...namesIn(match)]);
    const asked = new Set([...names, 'claude-sonnet-4-5-20250929', 'no-such-model'].map((name) => name.toLowerCase()));
    // What a name matches is the same at all times.
    for (const [index, time] of times.entries())
      for (const model of index === 0 ? asked : provider.models.map(({ id }) => id.toLowerCase())) {
        const found = find({ provider: label, model, at: new Date(time), inputTokens: 1 });
        const expected = calcPrice({}, model, { provider, timestamp: new Date(time) });
        const price = expected?.model_price['input_mtok'];
        // Where a model is not sold by input tokens, the package finds it, too; the price book may know nothing of its units.
        if (price === undefined && found === null) continue;
        expect({ model, time, source: found?.source, input: Number(found?.rates.input ?? 0n) }).toEqual({
          model,
          time,
          source: `genai-prices:${provider.id}/${expected?.model.id}`,
          input: Math.round((typeof price === 'object' ? price.base : (price ?? 0)) * 1e12),
        });
      }
  });

  it('finds prices by the time of day, also past midnight and in another time zone', () => {
    const night = { start_time: '23:30:00+08:00', end_time: '08:30:00+08:00', type: 'time_of_date' as const };
    const prices = [{ prices: { input_mtok: 2 } }, { constraint: night, prices: { input_mtok: 1 } }];
    const book = openGenaiPrices({
      deepseek: {
        id: 'deepseek',
        name: 'DeepSeek',
        api_pattern: '',
        models: [{ id: 'm', match: { equals: 'm' }, prices }],
      },
    });
    const inputAt = (at: string) =>
      Number(book({ provider: 'deepseek', model: 'm', at: new Date(at), inputTokens: 1 })?.rates.input) / 1e12;
    expect(
      ['2026-11-22T15:29:59Z', '2026-11-22T15:30:00Z', '2026-11-23T00:29:59Z', '2026-11-23T00:30:00Z'].map(inputAt),
    ).toEqual([2, 1, 1, 2]);
  });
});

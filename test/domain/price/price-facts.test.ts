import { describe, expect, it } from '@jest/globals';
import { findProvider } from '@pydantic/genai-prices';
import { attoUsdPerUnit } from '../../../lambda/domain/money.ts';
import { bundledLists } from '../../../lambda/domain/price/bundled-lists.ts';
import { holidays, providerOverrides } from '../../../lambda/domain/price/overrides.ts';
import { openSecondPrices, SECOND_BOOK_LIMIT } from '../../../lambda/domain/price/second-book.ts';
import { providers } from '../../../lambda/domain/providers.ts';
import { PROMPT_SIZE_LIMITS } from '../../../lambda/domain/usage/iterations.ts';
import { holidaysDue } from '../../../ops/prices/compare.ts';

/** Prompt sizes (tokens) from which on genai-prices has other prices for a model. */
const stepsOf = (model: { readonly prices: unknown }): number[] =>
  [...JSON.stringify(model.prices).matchAll(/"start":(\d+)/g)].map(([, tokens]) => Number(tokens));

const genaiModels = (providerId: string) => findProvider({ providerId })?.models ?? [];

describe('limits of prompt sizes', () => {
  it('are exactly those of the price books and the overrides', () => {
    const inBooks = providers.flatMap(({ priceIds }) => genaiModels(priceIds.genaiPrices).flatMap(stepsOf));
    const inSecondBook = Object.values(bundledLists.secondPrices.prices).some((models) =>
      Object.values(models).some(({ over200k }) => over200k !== undefined),
    );
    const inOverrides = Object.values(providerOverrides).flatMap(({ overrides = [] }) =>
      overrides.flatMap(({ overTokens = [] }) => overTokens),
    );
    const limits = new Set([...inBooks, ...(inSecondBook ? [SECOND_BOOK_LIMIT] : []), ...inOverrides]);
    expect([...PROMPT_SIZE_LIMITS]).toEqual([...limits].sort((left, right) => left - right));
  });

  it('are where the second book has other prices', () => {
    const found = Object.entries(bundledLists.secondPrices.prices).flatMap(([provider, models]) =>
      Object.entries(models).flatMap(([model, { input, over200k }]) =>
        over200k?.input === undefined || over200k.input === input ? [] : [[provider, model, input, over200k.input]],
      ),
    );
    expect(found.length).toBeGreaterThan(0);
    for (const [provider, model, short, long] of found as [string, string, number, number][]) {
      const rateOf = (inputTokens: number) =>
        openSecondPrices(bundledLists.secondPrices)({ provider, model, at: new Date(), inputTokens })?.rates.input;
      expect([model, rateOf(SECOND_BOOK_LIMIT), rateOf(SECOND_BOOK_LIMIT + 1)]).toEqual([
        model,
        attoUsdPerUnit(short, 1e6),
        attoUsdPerUnit(long, 1e6),
      ]);
    }
  });

  // Overrides that take the limit of a model that the book has.
  it.each([
    ['google', 'gemini-1.5-flash-8b*', 'gemini-1.5-flash'],
    ['openai', 'gpt-6.1-sol', 'gpt-6-sol'],
  ] as const)('of %s %s are those of %s', (provider, pattern, sibling) => {
    const limits = providerOverrides[provider]?.overrides
      ?.filter(({ models }) => models.includes(pattern))
      .flatMap(({ overTokens = [] }) => overTokens);
    const model = genaiModels(provider).find(({ id }) => id === sibling);
    expect(limits).toEqual([...new Set(model && stepsOf(model))]);
  });
});

describe("DeepSeek's holidays", () => {
  const lastYear = Math.max(...[...holidays].map((day) => Number(day.slice(0, 4))));

  it('are missed in time', () => {
    expect(holidaysDue(new Date(`${lastYear}-12-14T23:59:59Z`))).toBeNull();
    expect(holidaysDue(new Date(`${lastYear}-12-15T00:00:00Z`))).toContain(`holidays of ${lastYear + 1}`);
  });

  it('are weekdays: weekends have no peak anyway', () => {
    for (const day of holidays) expect([day, new Date(day).getUTCDay() % 6]).not.toEqual([day, 0]);
  });
});

import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { findProvider } from '@pydantic/genai-prices';
import { bundledLists, genaiPublished } from '../../../lambda/domain/price/bundled-lists.ts';
import { holidays } from '../../../lambda/domain/price/overrides.ts';
import { providerOverrides } from '../../../lambda/domain/price/price-book.ts';
import { providers } from '../../../lambda/domain/providers.ts';
import { PROMPT_SIZE_LIMITS } from '../../../lambda/domain/usage/iterations.ts';
import { holidaysDue } from '../../../ops/prices/compare.ts';

/** Prompt sizes (tokens) from which on genai-prices has other prices for a model. */
const stepsOf = (model: { readonly prices: unknown }): number[] =>
  [...JSON.stringify(model.prices).matchAll(/"start":(\d+)/g)].map(([, tokens]) => Number(tokens));

const genaiModels = (providerId: string) => findProvider({ providerId })?.models ?? [];

describe('limits of prompt sizes', () => {
  it('include those of the price books and the overrides', () => {
    const inBooks = providers.flatMap(({ priceIds }) => genaiModels(priceIds.genaiPrices).flatMap(stepsOf));
    const inSecondBook = Object.values(bundledLists.secondPrices.prices).flatMap((models) =>
      Object.values(models).flatMap(({ tiers = [] }) => tiers.map(({ over }) => over)),
    );
    const inOverrides = Object.values(providerOverrides).flatMap(({ overrides = [] }) =>
      overrides.flatMap(({ overTokens = [] }) => overTokens),
    );
    expect(PROMPT_SIZE_LIMITS).toEqual(expect.arrayContaining([...inBooks, ...inSecondBook, ...inOverrides]));
    expect([...PROMPT_SIZE_LIMITS]).toEqual([...PROMPT_SIZE_LIMITS].sort((left, right) => left - right));
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

describe('the day of the list in the code', () => {
  it('is that of the installed version', () => {
    const { version } = JSON.parse(readFileSync('node_modules/@pydantic/genai-prices/package.json', 'utf8'));
    expect(genaiPublished.version).toBe(version);
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

import { describe, expect, it } from '@jest/globals';
import { bundledBook } from '../../fixtures/bundled-prices.ts';
import { worstRates, worstRatesDay } from '../../lambda/domain/price/worst-rates.generated.ts';
import { worstRatesOf } from '../../ops/prices/worst-rates.ts';

describe('the table that budgets reserve by', () => {
  it('holds what the price book says: else run `npm run prices -- --worst-rates`', () => {
    const rows = Object.entries(worstRates).map(([label, text]) => [label, text.trim()]);
    expect(Object.fromEntries(rows)).toEqual(worstRatesOf(worstRatesDay));
  });

  it('has the price of a model that everybody uses', () => {
    expect(worstRates['openai']).toContain('\ngpt-4o 2500 10000 16384 128000\n');
    const at = new Date(`${worstRatesDay}T00:00:00Z`);
    expect(bundledBook({ provider: 'openai', model: 'gpt-4o', at, inputTokens: 1 })?.rates.output).toBe(
      10_000n * 10n ** 9n,
    );
  });
});

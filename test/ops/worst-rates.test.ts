import { describe, expect, it } from '@jest/globals';
import { bundledBook } from '../../fixtures/bundled-prices.ts';
import worstRates from '../../lambda/domain/price/worst-rates.json' with { type: 'json' };
import { worstRatesOf } from '../../ops/prices/worst-rates.ts';

describe('the table that budgets reserve by', () => {
  it('holds what the price book says: else run `npm run prices -- --worst-rates`', () => {
    expect(worstRates.rows).toEqual(worstRatesOf(worstRates.day));
  });

  it('has the price of a common model, and of the dearest output of a model for videos', () => {
    expect(worstRates.rows.google).toContain('gemini-omni-flash-preview 1500 17500 65536 131072');
    expect(worstRates.rows.openai).toContain('gpt-4o 2500 10000 16384 128000');
    const at = new Date(`${worstRates.day}T00:00:00Z`);
    expect(bundledBook({ provider: 'openai', model: 'gpt-4o', at, inputTokens: 1 })?.rates.output).toBe(
      10_000n * 10n ** 9n,
    );
  });

  it('has the prices of peak hours, which weekends lack: write it with `--at` of a workday', () => {
    expect(worstRates.rows.deepseek).toContain('deepseek-v4-pro 1320 3960 0 1000000');
  });
});

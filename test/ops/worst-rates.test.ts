import { describe, expect, it } from '@jest/globals';
import { bundledBook } from '../../fixtures/bundled-prices.ts';
import worstRates from '../../lambda/domain/price/worst-rates.json' with { type: 'json' };
import { workdayOf, worstRatesOf } from '../../ops/prices/worst-rates.ts';

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

  it('has the price that follows an introductory one, which may begin before the next table', () => {
    expect(worstRates.rows.google).toContain('gemini-4-argon 4000 20000 65536 0');
    expect(worstRates.rows.google).toContain('gemini-3.8-flash 1500 7500 65536 1048576');
  });

  it('has the prices of peak hours, which weekends and holidays lack', () => {
    const week = ['2026-11-26', '2026-11-27', '2026-11-28', '2026-11-29', '2026-10-07'];
    expect(week.map(workdayOf)).toEqual(['2026-11-26', '2026-11-27', '2026-11-27', '2026-11-27', '2026-09-30']);
    expect(worstRates.rows.deepseek).toContain('deepseek-v4-pro 1320 3960 0 1000000');
  });
});

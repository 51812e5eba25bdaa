import { expect, it } from '@jest/globals';
import { boundOf, type Measures, NO_MEASURES, withMeasures } from '../../../lambda/domain/limits/bound.ts';

it('keeps the measures of a budget for a day after its last sample, so that they never grow past the budgets of a day', () => {
  const at = (hours: number) => new Date(Date.parse('2026-11-20T10:30:00.000Z') + hours * 3_600_000);
  const sampled = (before: Measures, budgetId: string, hours: number, usedNanoUsd: number) =>
    withMeasures(before, [{ budgetId, periodId: 'monthly', usedNanoUsd }], at(hours));
  const two = sampled(sampled(NO_MEASURES, 'deleted', 0, 1), 'stays', 12, 1);
  const budgetIdsAt = (hours: number) => Object.keys(withMeasures(two, [], at(hours)).budgets);
  expect([budgetIdsAt(24), budgetIdsAt(24.1)]).toEqual([['deleted', 'stays'], ['stays']]);
  expect(Object.keys(sampled(two, 'new', 40, 1).budgets)).toEqual(['new']);
});

it('has the most that was spent within a minute, of all its samples, and nothing of before the budget', () => {
  let measures = NO_MEASURES;
  const peakAfter = (second: number, usedNanoUsd: number, periodId: string) => {
    const at = new Date(Date.parse('2026-11-20T10:30:00.000Z') + second * 1_000);
    measures = withMeasures(measures, [{ budgetId: 'b', periodId, usedNanoUsd }], at);
    return boundOf(measures, 'b')?.peakNanoUsdPerMinute ?? null;
  };
  expect([peakAfter(0, 100, 'first'), peakAfter(10, 130, 'first'), peakAfter(20, 150, 'first')]).toEqual([
    null,
    30,
    50,
  ]);
  expect([peakAfter(60, 5, 'next'), peakAfter(70, 90, 'next')]).toEqual([50, 90]);
});

import { expect, it } from '@jest/globals';
import { type Measures, NO_MEASURES, withMeasures } from '../../../lambda/domain/limits/bound.ts';

it('keeps the measures of a budget for a day after its last sample, so that they never grow past the budgets of a day', () => {
  const at = (hours: number) => new Date(Date.parse('2026-11-20T10:30:00.000Z') + hours * 3_600_000);
  const sampled = (before: Measures, budgetId: string, hours: number, usedNanoUsd: number) =>
    withMeasures(before, [{ budgetId, periodId: 'monthly', usedNanoUsd }], at(hours));
  const two = sampled(sampled(NO_MEASURES, 'deleted', 0, 1), 'stays', 12, 1);
  const budgetIdsAt = (hours: number) => Object.keys(withMeasures(two, [], at(hours)).budgets);
  expect([budgetIdsAt(24), budgetIdsAt(24.1)]).toEqual([['deleted', 'stays'], ['stays']]);
  expect(Object.keys(sampled(two, 'new', 40, 1).budgets)).toEqual(['new']);
});

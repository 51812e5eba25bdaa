import { expect, it } from '@jest/globals';
import { daysBetween } from '../../../lambda/domain/calendar/utc.ts';

it.each([
  ['2026-02-27', '2026-03-02', ['2026-02-27', '2026-02-28', '2026-03-01', '2026-03-02']],
  ['2026-03-02', '2026-03-02', ['2026-03-02']],
  ['2026-03-03', '2026-03-02', []],
  // No day as text comes after it.
  ['9999-12-30', '9999-12-31', ['9999-12-30', '9999-12-31']],
])('lists the days from %s to %s', (from, to, days) => {
  expect(daysBetween(from, to)).toEqual(days);
});

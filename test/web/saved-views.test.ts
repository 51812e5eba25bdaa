import { describe, expect, it } from '@jest/globals';
import { viewParameters } from '../../lambda/domain/accounts/saved-view.ts';
import { compareSearch, periodsOf } from '../../web/src/compare/search.ts';
import { overviewSearch } from '../../web/src/overview/search.ts';
import { requestsSearch } from '../../web/src/requests/search.ts';

/** A value that a page accepts, for each parameter whose values it checks. */
const accepted: Readonly<Record<string, unknown>> = {
  by: 'tag',
  and: 'model',
  show: 'tokens',
  range: 'month',
  per: 'day',
  periods: 'month',
  from: '2026-11-01',
  to: '2026-11-02',
  compareFrom: '2026-10-01',
  compareTo: '2026-10-02',
  zone: 'Europe/Berlin',
  status: 500,
  orderBy: 'cost',
};
const everything = Object.fromEntries(
  [...new Set(Object.values(viewParameters).flat())].map((name) => [name, accepted[name] ?? 'x']),
);

describe('the settings of a view', () => {
  it.each([
    ['overview', overviewSearch],
    ['compare', compareSearch],
    ['requests', requestsSearch],
  ] as const)('are what the page %s reads from its URL', (page, search) => {
    const read = Object.entries(search(everything)).filter(([, value]) => value !== undefined);
    expect(read.map(([name]) => name).sort()).toEqual([...viewParameters[page]].sort());
    // The router makes a number of it.
    expect([search({ tag: 2026 }).tag].flat()).toEqual(['2026']);
  });

  it('has periods to compare that move with the time', () => {
    const search = compareSearch({ periods: 'month', by: 'tag' });
    const on = (day: string) => periodsOf(search, new Date(`${day}T12:00:00Z`), 'UTC');
    expect(on('2026-11-20')).toMatchObject({
      name: 'month',
      periods: { from: '2026-11-01' },
    });
    expect(on('2026-12-02').periods).toEqual({ from: '2026-12-01' });
    const usual = (name: string) =>
      periodsOf(compareSearch({ periods: name }), new Date('2026-11-20T12:00:00Z'), 'UTC').periods;
    expect(usual('yesterday')).toEqual({ from: '2026-11-19', to: '2026-11-19' });
    expect(usual('7d')).toEqual({ from: '2026-11-13', to: '2026-11-19' });
    expect(usual('30d')).toEqual({ from: '2026-10-21', to: '2026-11-19', compareFrom: '2026-09-21' });
    const days = { from: '2026-11-01', to: '2026-11-02', compareFrom: '2026-10-01', compareTo: '2026-10-02' };
    expect(periodsOf(compareSearch({ ...days, periods: 'month' }), new Date('2026-12-02'), 'UTC')).toMatchObject({
      name: undefined,
      periods: days,
    });
  });
});

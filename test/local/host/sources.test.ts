import { describe, expect, it } from '@jest/globals';
import { succeeded } from '../../../local/host/sources/batch-outcome.ts';
import { msToNextRun } from '../../../local/host/sources/schedule-expression.ts';

describe('the outcome of a batch', () => {
  const ids = ['a', 'b', 'c'];
  it.each([
    ['nothing failed', { batchItemFailures: [] }, ids],
    ['no response', null, ids],
    ['a response without failures', {}, ids],
    ['one failed', { batchItemFailures: [{ itemIdentifier: 'b' }] }, ['a', 'c']],
    ['an unknown identifier', { batchItemFailures: [{ itemIdentifier: 'x' }] }, []],
    ['an empty identifier', { batchItemFailures: [{ itemIdentifier: '' }] }, []],
    ['a malformed response', { batchItemFailures: 'b' }, []],
  ])('%s', (_, response, expected) => {
    expect(succeeded(ids, response, true)).toEqual(expected);
  });

  it('does not read responses unless the mapping says so', () => {
    expect(succeeded(ids, { batchItemFailures: [{ itemIdentifier: 'b' }] }, false)).toEqual(ids);
  });
});

describe('the next run of a schedule', () => {
  const now = new Date('2026-11-20T16:30:15.000Z'); // a Friday
  it.each([
    ['rate(1 minute)', 60_000],
    ['rate(12 hours)', 12 * 3_600_000],
    ['cron(* * * * ? *)', 45_000],
    ['cron(0/10 * * * ? *)', 9 * 60_000 + 45_000],
    ['cron(5 0 * * ? *)', Date.parse('2026-11-21T00:05:00Z') - now.getTime()],
    ['cron(0 9 ? * 2-6 *)', Date.parse('2026-11-23T09:00:00Z') - now.getTime()],
    ['cron(0 0 1 1,7 ? *)', Date.parse('2027-01-01T00:00:00Z') - now.getTime()],
  ])('%s', (expression, expected) => {
    expect(msToNextRun(expression, now)).toBe(expected);
  });

  it.each(['rate(soon)', 'cron(* * *)', 'cron(0 0 ? * MON *)'])('refuses %s', (expression) => {
    expect(() => msToNextRun(expression, now)).toThrow('Cannot read');
  });
});

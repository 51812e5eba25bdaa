import { expect, it } from '@jest/globals';
import { OutOfTimeError } from '../../lambda/exporter/export-day.ts';
import { runDueDays } from '../../lambda/exporter/run-due-days.ts';

/** The metrics and the log of a run whose one due day throws. */
const failedRun = async (error: Error, remainingMs: number) => {
  const [counted, logged]: [string[], unknown[]] = [[], []];
  const run = runDueDays({
    due: async function* (shard) {
      if (shard === 0) yield { day: '2026-11-19', accountId: 'svc_secret' };
    },
    work: () => Promise.reject(error),
    metricNames: {},
    failure: 'The day was not exported.',
    logger: { error: (...facts: unknown[]) => logged.push(facts) } as never,
    metrics: { addMetric: (name) => counted.push(name) },
  });
  await run(() => remainingMs);
  return { counted, logged };
};

it('alarms about a day that does not fit into a whole run, and leaves one that began late to the next run', async () => {
  const tooLarge = new OutOfTimeError('The day is not written yet.');
  expect(await failedRun(tooLarge, 599_999)).toEqual({ counted: [], logged: [] });
  expect(await failedRun(tooLarge, 600_000)).toMatchObject({ counted: ['ExportFailures'] });
});

it('alarms about any other failure, without the account, and begins no day in its last minute', async () => {
  expect(await failedRun(new TypeError('svc_secret'), 59_999)).toEqual({ counted: [], logged: [] });
  expect(await failedRun(new TypeError('svc_secret'), 60_000)).toEqual({
    counted: ['ExportFailures'],
    logged: [['The day was not exported.', { day: '2026-11-19', errorName: 'TypeError' }]],
  });
});

/**
 * What the dashboard's longest questions cost of an account at its limits: 1,751 distinct counters in every hour of every day
 * (lambda/domain/spend/dimensions.ts). Each question is asked by a process of its own with the heap of a function of 512 MB.
 * The shortest of API Gateway's time-outs is 29 s; Lambda gives a function of 512 MB 0.29 of a processor.
 *
 * --days: how many days have hours, today among them. All 31 take some five minutes to make.
 */

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { DAY_MS } from '../lambda/domain/calendar/units.ts';
import { report, rounded } from './report/figures.ts';
import { benchOptions } from './report/options.ts';
import { accountAtLimit, TAG } from './scale/account-at-limit.ts';

const { days } = benchOptions('at-limit', { days: 2 });

const YEAR_DAYS = 366;
/** Of a function of 512 MB, of which Node takes some for itself. */
const HEAP_MB = 440;
const PROCESSORS_AT_512_MB = 512 / 1_769;

// The end of a day: today's counters, which are in no summary yet, are at their maximum.
const now = new Date(Math.floor(Date.now() / DAY_MS) * DAY_MS - 1_800_000);
const ago = (back: number): string => new Date(now.getTime() - back * DAY_MS).toISOString().slice(0, 10);

const everything = ['provider', 'model', 'tag', 'key', 'providerKey'];
const filter = { model: 'gpt-5', tag: TAG };
const hourly = { type: 'cost_threshold', config: { threshold: 1_000_000, period: 'hourly' } };
const byHour = { granularity: 'hour', from: ago(days - 1) };
const byDay = { granularity: 'day', from: ago(YEAR_DAYS - 1) };

const questions: readonly (readonly [what: string, question: object])[] = [
  ['preview, hourly', { kind: 'preview', ...hourly }],
  ['preview, hourly, one model and tag', { kind: 'preview', ...hourly, config: { ...hourly.config, filter } }],
  ['spend by hour', { kind: 'spend', ...byHour }],
  ['spend by hour and tag', { kind: 'spend', ...byHour, groupBy: ['tag'] }],
  ['spend by hour and everything', { kind: 'spend', ...byHour, groupBy: everything }],
  ['export by hour and everything', { kind: 'export', ...byHour, groupBy: everything }],
  ['spend by day', { kind: 'spend', ...byDay }],
  ['spend by day and tag', { kind: 'spend', ...byDay, groupBy: ['tag'] }],
  ['spend by day and everything', { kind: 'spend', ...byDay, groupBy: everything }],
  ['export by day and everything', { kind: 'export', ...byDay, groupBy: everything }],
];

const table = await accountAtLimit({ days, summedDays: YEAR_DAYS - days }, now);
try {
  const results = [];
  for (const [what, question] of questions) {
    const asked = promisify(execFile)(process.execPath, [
      '--disable-warning=ExperimentalWarning',
      `--max-old-space-size=${HEAP_MB}`,
      join(import.meta.dirname, 'scale', 'question-process.ts'),
      table.endpoint,
      table.name,
      now.toISOString(),
      JSON.stringify(question),
    ]);
    const { cpuMs, ...figures } = JSON.parse((await asked).stdout);
    results.push({
      what,
      ...figures,
      cpuSeconds: rounded(cpuMs / 1_000, 1),
      secondsAt512Mb: rounded(cpuMs / 1_000 / PROCESSORS_AT_512_MB, 1),
    });
  }
  report('at-limit', { days }, results);
} finally {
  await table.stop();
}

import * as z from 'zod/mini';
import { periodsToJudge } from '../calendar/periods.ts';
import { HOUR_MS } from '../calendar/units.ts';
import { addDays, type Day, dayOf } from '../calendar/utc.ts';
import { usdToNanoUsd } from '../money.ts';
import { type Counters, costToCompare, knownCostNanoUsd } from '../spend/counters.ts';
import { combinationProblem } from '../spend/dimensions.ts';
import { comparedUsd, requestsText } from '../spend/spend-report.ts';
import { ruleFilter, ruleFilterOf, usdAmount } from './config-members.ts';
import type { Evaluator } from './evaluator.ts';
import { filteredBy, type Series, splitNames } from './spend-series.ts';

/** The middle value; the mean of the two middle ones of an even number. 0 without values. */
export const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((left, right) => left - right);
  const middle = sorted.length / 2;
  return ((sorted[Math.ceil(middle) - 1] ?? 0) + (sorted[Math.floor(middle)] ?? 0)) / 2;
};

const MAX_PAUSE_MINUTES = 7 * 24 * 60;

const pause = z.strictObject({
  // An hour at least: the next hour is judged by itself, so that a pause begins again where the loop goes on.
  minutes: z
    ._default(z.nullable(z.int().check(z.minimum(60), z.maximum(MAX_PAUSE_MINUTES))), 720)
    .check(z.describe('Null: until somebody ends it.')),
});

const members = z.strictObject({
  each: z.enum(splitNames).check(z.describe('Each value is judged on its own, and paused alone.')),
  measure: z._default(z.enum(['cost', 'requests']), 'cost'),
  limit: z
    .optional(usdAmount)
    .check(
      z.describe('USD, or requests, in an hour (of a session: in a day) at which it fires, however many are usual.'),
    ),
  factor: z
    .optional(z.number().check(z.gt(1), z.maximum(1_000)))
    .check(
      z.describe(
        'It also fires at this many times the usual hour: the median of the busiest hours of the last 14 days with requests, of at least five. Not for sessions, which have no history.',
      ),
    ),
  minimum: z
    ._default(usdAmount, 5)
    .check(z.describe('USD, or requests, in an hour. Below it, `factor` does not count.')),
  filter: ruleFilter,
  pause: z
    ._default(z.nullable(pause), null)
    .check(
      z.describe(
        'For how long requests of the value are refused, see GET /pauses. Null: the rule only sends an alert.',
      ),
    ),
});

export type BurnRateConfig = z.infer<typeof members>;

const problemOf = ({ each, limit, factor, filter }: BurnRateConfig): string | undefined => {
  if (limit === undefined && factor === undefined) return 'needs a limit or a factor';
  if (each !== 'session') {
    const dimension = each === 'tag' ? 'tag' : 'keyId';
    return combinationProblem([...filteredBy(filter && ruleFilterOf(filter)), dimension]);
  }
  if (factor !== undefined) return 'a session has no history for a factor: set a limit';
  return filter === undefined ? undefined : 'sessions cannot be filtered';
};

const configSchema = members.check(
  z.refine((config) => problemOf(config) === undefined, { error: ({ input }) => problemOf(input as BurnRateConfig) }),
);

const LATE_HOURS = 3;
export const HISTORY_DAYS = 14;
/** Fewer days with requests are no history. */
const MIN_DAYS = 5;

const measureOf = ({ measure }: Pick<BurnRateConfig, 'measure'>, counters: Counters): number =>
  measure === 'cost' ? knownCostNanoUsd(counters) : (counters.requests ?? 0);

const inUnit = ({ measure }: Pick<BurnRateConfig, 'measure'>, value: number): number =>
  measure === 'cost' ? usdToNanoUsd(value) : Math.ceil(value);

const textOf = ({ measure }: Pick<BurnRateConfig, 'measure'>, value: number): string =>
  measure === 'cost' ? comparedUsd(value) : requestsText(value);

/** Below it no value fires, so that most need no history. */
export const leastOf = (config: BurnRateConfig): number =>
  Math.min(
    config.limit === undefined ? Number.POSITIVE_INFINITY : inUnit(config, config.limit),
    config.factor === undefined ? Number.POSITIVE_INFINITY : inUnit(config, config.minimum),
  );

/**
 * The usual hour of a value: the median, over the days before with requests, of the day's busiest hour. Quiet hours do not lower it, so
 * a nightly batch does not fire each night. Null with too little history.
 *
 * @param sums by hour
 * @returns takes the start of the period to judge, ISO 8601
 */
export const usualOf = (config: Pick<BurnRateConfig, 'measure'>, { sums }: Pick<Series, 'sums'>) => {
  const peakOf = new Map<Day, number>();
  for (const [hour, counters] of sums)
    if (counters.requests) peakOf.set(dayOf(hour), Math.max(peakOf.get(dayOf(hour)) ?? 0, measureOf(config, counters)));
  return (start: string): number | null => {
    const days = Array.from({ length: HISTORY_DAYS }, (_, index) => addDays(dayOf(start), -index - 1));
    const peaks = days.flatMap((day) => peakOf.get(day) ?? []);
    return peaks.length < MIN_DAYS ? null : Math.round(median(peaks));
  };
};

/** A key, tag, project or session spends, or sends, much more than it usually does, or than it may. */
export const burnRate: Evaluator<BurnRateConfig> = {
  configSchema,
  periodOf: ({ each }) => (each === 'session' ? 'daily' : 'hourly'),
  // A day of sessions is much to read, so yesterday's are judged for as long as an hour's spend is.
  periodsOf: ({ each }, now, judgedUntil) =>
    each === 'session'
      ? periodsToJudge('daily', now, judgedUntil).filter(
          ({ end }) => Date.parse(end) > Math.min(now.getTime(), judgedUntil.getTime()) - LATE_HOURS * HOUR_MS,
        )
      : periodsToJudge('hourly', now, judgedUntil),
  splitBy: ({ each }) => each,
  judge: (config, { period, series, usual = null }) => {
    const { limit, factor, minimum, each } = config;
    const limits = [
      ...(limit === undefined ? [] : [inUnit(config, limit)]),
      ...(factor === undefined || usual === null
        ? []
        : [Math.max(Math.round(usual * factor), inUnit(config, minimum))]),
    ];
    if (limits.length === 0) return null;
    const counters = series.sum(period.start, period.end);
    const least = Math.min(...limits);
    const figure = config.measure === 'cost' ? costToCompare(counters, least) : (counters.requests ?? 0);
    const comparison = usual === null ? '' : ` Its usual busiest hour has ${textOf(config, usual)}.`;
    return {
      exceeded: figure >= least,
      unit: config.measure === 'cost' ? 'nanoUsd' : 'requests',
      figure,
      limit: least,
      unpricedRequests: counters.unpricedRequests ?? 0,
      summary: `${textOf(config, figure)} within ${each === 'session' ? 'a day' : 'an hour'}, the limit is ${textOf(config, least)}.${comparison}`,
    };
  },
};

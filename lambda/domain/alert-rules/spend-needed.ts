import { type Period, periodsToJudge } from '../calendar/periods.ts';
import type { Range } from '../calendar/range.ts';
import type { SpendDimensionName } from '../spend/dimensions.ts';
import { type BoundEvaluator, evaluatorOf, type RuleCondition } from './rule.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** A range of whole hours or days. */
interface ReadRange extends Range {
  readonly granularity: 'hour' | 'day';
}

/** What must be read of an account's spend to judge some rules. */
export interface Reading {
  readonly range: ReadRange;
  readonly dimensions: readonly SpendDimensionName[];
}

/** Rules by the hour look at hours; all others at days, which are summed up once they are over. */
export const granularityOf = ({ period }: BoundEvaluator): 'hour' | 'day' => (period === 'hourly' ? 'hour' : 'day');

const bucketMs = { hour: HOUR_MS, day: DAY_MS } as const;

/** A range of whole hours or days that covers both ends. */
export const covering = (granularity: 'hour' | 'day', fromMs: number, untilMs: number): ReadRange => {
  const ms = bucketMs[granularity];
  return {
    granularity,
    from: new Date(Math.floor(fromMs / ms) * ms).toISOString(),
    to: new Date(Math.ceil(untilMs / ms) * ms).toISOString(),
  };
};

/** The range of spend that judging a period looks at, until `now`. */
export const lookedAt = (evaluator: BoundEvaluator, first: Period, now: Date): ReadRange =>
  covering(
    granularityOf(evaluator),
    Date.parse(first.start) - evaluator.lookbackDays * DAY_MS,
    Math.max(now.getTime(), Date.parse(first.start)) + 1,
  );

/** One or two readings (hours, days) that serve all rules of an account. */
export const readingsFor = (conditions: readonly RuleCondition[], now: Date): Reading[] => {
  const wanted = conditions.map(evaluatorOf).map((evaluator) => ({
    range: lookedAt(evaluator, periodsToJudge(evaluator.period, now).at(-1) as Period, now),
    dimensions: Object.keys(evaluator.filter ?? {}) as SpendDimensionName[],
  }));
  return [...Map.groupBy(wanted, ({ range }) => range.granularity)].map(([granularity, some]) => ({
    range: covering(
      granularity,
      Math.min(...some.map(({ range }) => Date.parse(range.from))),
      Math.max(...some.map(({ range }) => Date.parse(range.to))),
    ),
    dimensions: [...new Set(some.flatMap(({ dimensions }) => dimensions))],
  }));
};

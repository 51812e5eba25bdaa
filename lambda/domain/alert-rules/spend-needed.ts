import { type Period, periodsToJudge } from '../calendar/periods.ts';
import type { Span } from '../calendar/range.ts';
import type { SpendDimensionName } from '../spend/dimensions.ts';
import { type BoundEvaluator, evaluatorOf, type RuleCondition } from './rule.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** A span of whole hours or days. */
interface ReadSpan extends Span {
  readonly granularity: 'hour' | 'day';
}

/** What must be read of an account's spend to judge some rules. */
export interface Reading {
  readonly span: ReadSpan;
  readonly dimensions: readonly SpendDimensionName[];
}

/** Rules by the hour look at hours; all others at days, which are summed up once they are over. */
export const granularityOf = ({ period }: BoundEvaluator): 'hour' | 'day' => (period === 'hourly' ? 'hour' : 'day');

const bucketMs = { hour: HOUR_MS, day: DAY_MS } as const;

/** A span of whole hours or days that covers both ends. */
export const covering = (granularity: 'hour' | 'day', fromMs: number, untilMs: number): ReadSpan => {
  const ms = bucketMs[granularity];
  return {
    granularity,
    from: new Date(Math.floor(fromMs / ms) * ms).toISOString(),
    to: new Date(Math.ceil(untilMs / ms) * ms).toISOString(),
  };
};

/** The span of spend that judging a period looks at, until `now`. */
export const lookedAt = (evaluator: BoundEvaluator, first: Period, now: Date): ReadSpan =>
  covering(
    granularityOf(evaluator),
    Date.parse(first.start) - evaluator.lookbackDays * DAY_MS,
    Math.max(now.getTime(), Date.parse(first.start)) + 1,
  );

/** One or two readings (hours, days) that serve all rules of an account. */
export const readingsFor = (conditions: readonly RuleCondition[], now: Date): Reading[] => {
  const wanted = conditions.map(evaluatorOf).map((evaluator) => ({
    span: lookedAt(evaluator, periodsToJudge(evaluator.period, now).at(-1) as Period, now),
    dimensions: Object.keys(evaluator.filter ?? {}) as SpendDimensionName[],
  }));
  return [...Map.groupBy(wanted, ({ span }) => span.granularity)].map(([granularity, some]) => ({
    span: covering(
      granularity,
      Math.min(...some.map(({ span }) => Date.parse(span.from))),
      Math.max(...some.map(({ span }) => Date.parse(span.to))),
    ),
    dimensions: [...new Set(some.flatMap(({ dimensions }) => dimensions))],
  }));
};

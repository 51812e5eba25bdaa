import * as z from 'zod/mini';
import { type Period, periodNames } from '../calendar/periods.ts';
import { DAY_MS } from '../calendar/units.ts';
import { type Counters, costToCompare } from '../spend/counters.ts';
import { DIMENSION_NAME } from '../spend/declared-dimensions.ts';
import { forecastMonth } from '../spend/month-forecast.ts';
import { costOf, usdOf } from '../spend/spend-report.ts';
import { orRequired } from '../violations.ts';
import type { BlockPolicy } from './block.ts';
import { ruleFilter, usdAmount } from './config-members.ts';
import { atPercent, type EachName, eachNames, type GroupAmount } from './each.ts';
import type { SpendSeries } from './spend-series.ts';

const percent = z.int().check(z.minimum(1), z.maximum(1_000));
const MAX_PERCENTS = 8;
const MAX_FIXED_DAYS = 366;

const day = z.iso.date('must be a date (2026-11-20)');

const areDates = ({ issues }: z.core.ParsePayload): boolean => issues.length === 0;

/** A budget may have any whole days as its one period. */
const fixedPeriod = z
  .strictObject({
    from: day.check(z.describe('First day, UTC.')),
    to: day.check(z.describe('Last day, UTC.')),
  })
  .check(
    z.refine(({ from, to }) => from <= to, { error: '`to` is before `from`', path: ['to'], when: areDates }),
    z.refine(({ from, to }) => Date.parse(to) - Date.parse(from) < MAX_FIXED_DAYS * DAY_MS, {
      error: `A period has ${MAX_FIXED_DAYS} days at most`,
      path: ['to'],
      when: areDates,
    }),
  );

/** How requests are refused when the budget is used up. */
const block = z.strictObject({
  atPercent: z._default(
    z.int().check(z.minimum(100), z.maximum(1_000), z.describe('From this percentage on, requests are refused.')),
    100,
  ),
  enforcement: z._default(
    z
      .enum(['lagging', 'reserved'])
      .check(
        z.describe(
          'lagging: requests are refused some seconds after the budget is used up. reserved: each request first reserves the most that it may cost, and is refused where that does not fit.',
        ),
      ),
    'lagging',
  ),
  onUnavailable: z._default(
    z
      .enum(['pass', 'stop'])
      .check(z.describe('What happens while the gateway cannot read whether the budget is used up.')),
    'pass',
  ),
});

const unknownCost = z.union(
  [
    z.literal('ignore').check(z.describe('They count as nothing.')),
    z.literal('block').check(z.describe('The budget counts as used up.')),
    z.strictObject({ countAsUsd: usdAmount.check(z.describe('Each counts as this amount.')) }),
  ],
  { error: 'must be ignore, block or an object with countAsUsd' },
);

const EACH_RULE = `must be one of ${eachNames.join(', ')}, or dim: and a name of metadata`;
const eachName = z.union(
  [z.enum(eachNames), z.string().check(z.regex(new RegExp(`^dim:${DIMENSION_NAME.source.slice(1)}`), EACH_RULE))],
  { error: EACH_RULE },
) as unknown as z.ZodMiniType<EachName>;

const groupAmounts = (description: string) =>
  z.optional(z.record(z.string().check(z.minLength(1), z.maxLength(64)), usdAmount).check(z.describe(description)));

export const budgetConfigSchema = z.strictObject({
  each: z
    .optional(eachName)
    .check(
      z.describe(
        'Every value has the amount for itself, and is refused alone: each member, key, project, session, or value of a name of metadata (`dim:user`). It cannot be changed later, nor can the period, the filter and `unknownCost` of such a budget.',
      ),
    ),
  amountByProject: groupAmounts('Other amounts of members or keys, in USD, by id of their project.'),
  amountByRole: groupAmounts(
    "Other amounts of members or keys, in USD, by the member's role. A project's comes first.",
  ),
  amount: usdAmount.check(z.describe('In USD for each period.')),
  period: z.union([z.enum(periodNames), fixedPeriod], {
    error: orRequired(`must be one of ${periodNames.join(', ')}, or an object with from and to`),
  }),
  filter: ruleFilter,
  notifyAt: z._default(
    z
      .array(percent)
      .check(z.maxLength(MAX_PERCENTS), z.describe('Percentages of the amount at which an alert is sent.')),
    [80, 100],
  ),
  block: z._default(z.nullable(block), null).check(z.describe('Null: requests are never refused.')),
  unknownCost: z._default(unknownCost, 'ignore').check(z.describe('How requests of unknown cost count.')),
  showRemaining: z
    ._default(z.boolean(), false)
    .check(
      z.describe(
        'Responses have the header X-Service-Budget-Remaining: the USD that are left, the least of all budgets.',
      ),
    ),
});

export type BudgetConfig = z.infer<typeof budgetConfigSchema>;

/** An amount for each period over a filter, and what happens as spend comes near it: what rules of three types and budgets are inside. */
export interface Limit extends Pick<BudgetConfig, 'period' | 'filter' | 'block' | 'showRemaining'> {
  readonly amountNanoUsd: number;
  /** Percentages of the amount at which an alert is sent. */
  readonly notifyAt: readonly number[];
  /** Whether an alert is sent when the forecast for the month is above the amount. */
  readonly notifiesForecast: boolean;
  /** A request of unknown cost counts as nothing (`pass`), as all of the amount (`stop`), or as this much in nano-USD. */
  readonly unknownCost: BlockPolicy | number;
  /** Every value of this dimension has the amount for itself. */
  readonly each?: EachName | undefined;
  /** Other amounts in nano-USD, by project or role. */
  readonly amountsOf?: Readonly<Record<GroupAmount['source'], Readonly<Record<string, number>>>> | undefined;
}

/** The percentage from which requests are refused, or would be. */
export const blocksFromPercent = ({ block }: Limit): number => block?.atPercent ?? 100;

/** The amount from which requests are refused, in nano-USD. */
export const blocksFromNanoUsd = (limit: Limit): number => atPercent(limit, blocksFromPercent(limit));

export interface LimitUse {
  /** Known cost, in nano-USD, as GET /spend shows it: one past 2^53 - 1 is 2^53 - 1, here and in what counts. */
  readonly knownNanoUsd: number;
  readonly unpricedRequests: number;
  /** This counts against the limit: the known cost, and requests of unknown cost if the limit counts them. */
  readonly usedNanoUsd: number;
  readonly isUsedUp: boolean;
}

export const useOf = (limit: Limit, counters: Counters): LimitUse => {
  const { unknownCost, amountNanoUsd } = limit;
  const knownNanoUsd = costToCompare(counters, amountNanoUsd);
  const unpricedRequests = counters.unpricedRequests ?? 0;
  const used = knownNanoUsd + unpricedRequests * (typeof unknownCost === 'number' ? unknownCost : 0);
  const usedNanoUsd = Math.min(used, Number.MAX_SAFE_INTEGER);
  return {
    knownNanoUsd,
    unpricedRequests,
    usedNanoUsd,
    isUsedUp: usedNanoUsd >= blocksFromNanoUsd(limit) || (unknownCost === 'stop' && unpricedRequests > 0),
  };
};

/** The requests that a use leaves out: those of unknown cost, unless they count as an amount. */
export const leftOutOf = (unknownCost: Limit['unknownCost'], unpricedRequests: number): number =>
  typeof unknownCost === 'number' ? 0 : unpricedRequests;

/** The part of a use that is assumed for requests of unknown cost, as a sentence after others; empty where none is. */
export const assumedText = (unknownCost: Limit['unknownCost'], unpricedRequests: number): string =>
  typeof unknownCost === 'number' && unpricedRequests > 0
    ? ` In it are $${usdOf(unknownCost)} for each request of unknown cost (${unpricedRequests}).`
    : '';

/** Periods but months are forecast from their first tenth on. */
const MIN_ELAPSED = 0.1;

/** The cost of a whole period at its rate so far; null if that is not known, or it is too early to tell. */
export const atOwnRate = ({ start, end }: Period, now: Date, nanoUsd: number | null): number | null => {
  if (nanoUsd === null) return null;
  const startMs = Date.parse(start);
  const elapsed = (now.getTime() - startMs) / (Date.parse(end) - startMs);
  return elapsed < MIN_ELAPSED ? null : Math.min(Math.round(nanoUsd / elapsed), Number.MAX_SAFE_INTEGER);
};

/**
 * The cost of a period at its end, in nano-USD: a month at the rate of the last seven days, with the day on which it reaches an amount; other
 * periods at their own rate so far. Null where nothing is known of the rate, it is too early to tell, or the period is over.
 */
export const forecastOf = (
  period: Period,
  now: Date,
  series: Pick<SpendSeries, 'sum'>,
): { readonly nanoUsd: number; readonly reaches?: (nanoUsd: number) => string } | null => {
  if (now.toISOString() >= period.end) return null;
  if (period.name === 'monthly')
    return forecastMonth(period, now, (from, to) => {
      const sum = series.sum(from, to);
      return { requests: sum.requests ?? 0, nanoUsd: costOf(sum) };
    });
  const nanoUsd = atOwnRate(period, now, costOf(series.sum(period.start, period.end)));
  return nanoUsd === null ? null : { nanoUsd };
};

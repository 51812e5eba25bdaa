import * as z from 'zod/mini';
import { type Period, periodNames, periodsToJudge } from '../calendar/periods.ts';
import { usdToNanoUsd } from '../money.ts';
import { type Counters, knownCostNanoUsd } from '../spend/counters.ts';
import { forecastMonth, HISTORY_DAYS } from '../spend/month-forecast.ts';
import { usdOf } from '../spend/spend-report.ts';
import { ruleFilter, usdAmount } from './config-members.ts';
import type { Evaluator } from './evaluator.ts';
import type { SpendSeries } from './spend-series.ts';

const percent = z.int().check(z.minimum(1), z.maximum(1_000));
const MAX_PERCENTS = 8;
const MAX_FIXED_DAYS = 366;
const DAY_MS = 86_400_000;

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

/** What becomes of requests when the budget is used up. */
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

export const budgetConfigSchema = z.strictObject({
  amount: usdAmount.check(z.describe('In USD for each period.')),
  period: z.union([z.enum(periodNames), fixedPeriod], {
    error: ({ input }) =>
      input === undefined ? 'is required' : `must be one of ${periodNames.join(', ')}, or an object with from and to`,
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

/** The amount of a budget at a percentage, in nano-USD. */
const atPercent = (amountNanoUsd: number, percent: number): number => Math.ceil((amountNanoUsd / 100) * percent);

/** What a budget may come to before requests are refused, in nano-USD. */
export const limitOf = ({ amount, block }: Pick<BudgetConfig, 'amount' | 'block'>): number =>
  atPercent(usdToNanoUsd(amount), block?.atPercent ?? 100);

/** What a budget's period has used. */
export interface BudgetUse {
  /** Known cost, in nano-USD, as GET /spend shows it. */
  readonly knownNanoUsd: number;
  /** Requests of unknown cost. */
  readonly unpricedRequests: number;
  /** What counts against the budget: the known cost, and requests of unknown cost if the budget counts them. */
  readonly usedNanoUsd: number;
  readonly isUsedUp: boolean;
}

/** @throws CounterOverflowError */
export const useOf = (config: BudgetConfig, counters: Counters): BudgetUse => {
  const { unknownCost } = config;
  const knownNanoUsd = knownCostNanoUsd(counters);
  const unpricedRequests = counters.unpricedRequests ?? 0;
  const countedAs = typeof unknownCost === 'object' ? usdToNanoUsd(unknownCost.countAsUsd) : 0;
  const usedNanoUsd = knownNanoUsd + unpricedRequests * countedAs;
  return {
    knownNanoUsd,
    unpricedRequests,
    usedNanoUsd,
    isUsedUp: usedNanoUsd >= limitOf(config) || (unknownCost === 'block' && unpricedRequests > 0),
  };
};

/** A budget is projected from its period's first tenth on. */
const MIN_ELAPSED = 0.1;

/**
 * What the period comes to, in nano-USD: a month at the rate of the last seven days, other periods at their own rate so far. Null where
 * it is too early to tell.
 */
export const projectedNanoUsd = (period: Period, now: Date, series: Pick<SpendSeries, 'sum'>): number | null => {
  if (now.toISOString() >= period.end) return null;
  if (period.name === 'monthly')
    return (
      forecastMonth(period, now, (from, to) => {
        const sum = series.sum(from, to);
        return { requests: sum.requests ?? 0, nanoUsd: knownCostNanoUsd(sum) };
      })?.nanoUsd ?? null
    );
  const startMs = Date.parse(period.start);
  const elapsed = (now.getTime() - startMs) / (Date.parse(period.end) - startMs);
  if (elapsed < MIN_ELAPSED) return null;
  return Math.round(knownCostNanoUsd(series.sum(period.start, period.end)) / elapsed);
};

/** The periods of a budget that are judged now, latest first: see periodsToJudge. A fixed period is judged like a month. */
const budgetPeriods = (period: BudgetConfig['period'], now: Date, judgedUntil: Date): Period[] => {
  if (typeof period === 'string') return periodsToJudge(period, now, judgedUntil);
  const start = `${period.from}T00:00:00.000Z`;
  const end = new Date(Date.parse(period.to) + DAY_MS).toISOString();
  const [, previous = { end: now.toISOString() }] = periodsToJudge('daily', now, judgedUntil).toReversed();
  return start <= now.toISOString() && end >= previous.end ? [{ name: 'fixed', start, end }] : [];
};

/** Spend reaches percentages of an amount, and requests stop at one of them if the account wants that. */
export const budget: Evaluator<BudgetConfig> = {
  configSchema: budgetConfigSchema,
  periodOf: ({ period }) => (typeof period === 'string' ? period : 'fixed'),
  periodsOf: ({ period }, now, judgedUntil) => budgetPeriods(period, now, judgedUntil),
  filterOf: ({ filter }) => filter,
  lookbackDays: ({ period }) => (period === 'monthly' ? HISTORY_DAYS : 0),
  drivenBy: 'cost',
  judge: (config, { period, series }) => {
    const amount = usdToNanoUsd(config.amount);
    const use = useOf(config, series.sum(period.start, period.end));
    const { usedNanoUsd: observed, unpricedRequests } = use;
    const reached = Math.max(0, ...config.notifyAt.filter((each) => observed >= atPercent(amount, each)));
    const percentUsed = Math.floor((observed / amount) * 100);
    const stops = config.block !== null && use.isUsedUp;
    return {
      exceeded: reached > 0,
      event: 'reached',
      percent: reached,
      unit: 'nanoUsd',
      observed,
      limit: amount,
      unpricedRequests,
      summary: `${percentUsed} % of the budget of $${usdOf(amount)} is used: $${usdOf(observed)}.${stops ? ' Further requests are refused until the period ends or the budget is raised.' : ''}`,
    };
  },
};

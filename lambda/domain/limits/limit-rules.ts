import * as z from 'zod/mini';
import { type Period, periodNames, periodsToJudge } from '../calendar/periods.ts';
import { usdToNanoUsd } from '../money.ts';
import { ifExact } from '../spend/counters.ts';
import { HISTORY_DAYS, RATE_DAYS } from '../spend/month-forecast.ts';
import { comparedUsd, costOf, percentText, usdOf } from '../spend/spend-report.ts';
import { ruleFilter, usdAmount } from './config-members.ts';
import { fixedPeriod, hasReached, percentUsed } from './each.ts';
import type { Evaluator, JudgedPeriod, Judgement } from './evaluator.ts';
import {
  assumedText,
  blocksFromNanoUsd,
  blocksFromPercent,
  budgetConfigSchema,
  forecastOf,
  type Limit,
  type LimitUse,
  leftOutOf,
  useOf,
} from './limit.ts';

const thresholdConfigSchema = z.strictObject({
  threshold: usdAmount.check(z.describe('In USD.')),
  period: z.enum(periodNames),
  filter: ruleFilter,
});

const forecastConfigSchema = z.strictObject({
  budget: usdAmount.check(z.describe('In USD a calendar month (UTC).')),
  filter: ruleFilter,
});

/** A limit with an amount alone: it sends one alert. */
const plain = {
  notifyAt: [100],
  notifiesForecast: false,
  block: null,
  unknownCost: 'pass',
  showRemaining: false,
} as const;

/** How alerts of a stored type are worded. The event is part of what keeps a second alert from being sent, so it stays as it is stored. */
interface Wording {
  readonly event?: 'used_up' | 'reached';
  readonly text: (limit: Limit, use: LimitUse) => string;
}

const judgeLimit = (limit: Limit, { event, text }: Wording, judged: JudgedPeriod): Judgement | null => {
  const { period, now, series } = judged;
  const { amountNanoUsd, notifyAt, unknownCost } = limit;
  const counters = series.sum(period.start, period.end);
  const use = useOf(limit, counters);
  const percent = Math.max(0, ...notifyAt.filter((each) => hasReached(limit, use, each, blocksFromPercent(limit))));
  const isOver = now.toISOString() >= period.end;
  const forecast = (limit.notifiesForecast && ifExact(() => forecastOf(period, now, series))) || null;
  const atTheRate = `At the rate of the last ${RATE_DAYS} days`;
  const facts = {
    unit: 'nanoUsd',
    limit: amountNanoUsd,
    unpricedRequests: leftOutOf(unknownCost, use.unpricedRequests),
    ...(forecast && { forecast: forecast.nanoUsd }),
  } as const;
  if (percent > 0 || isOver || !limit.notifiesForecast)
    return {
      ...facts,
      exceeded: percent > 0,
      ...(event && { event }),
      ...(event === 'reached' && { percent }),
      figure: use.usedNanoUsd,
      summary: `${text(limit, use)}${forecast ? ` ${atTheRate} the month comes to $${usdOf(forecast.nanoUsd)}.` : ''}`,
    };
  if (forecast === null) return null;
  const exceeded = forecast.nanoUsd > amountNanoUsd;
  const soFar = costOf(counters) === null ? 'what is spent is not known' : `$${usdOf(use.usedNanoUsd)} is spent`;
  const runsOut = exceeded ? ` ${atTheRate} it runs out on ${forecast.reaches?.(amountNanoUsd)}.` : '';
  return {
    ...facts,
    exceeded,
    event: 'forecast',
    figure: forecast.nanoUsd,
    summary: `Forecast for the month: $${usdOf(forecast.nanoUsd)}, against a budget of $${usdOf(amountNanoUsd)}; ${soFar}.${runsOut}`,
  };
};

/** The periods that are judged now, latest first: see periodsToJudge. A fixed period is judged like a month. */
const limitPeriods = ({ period }: Limit, now: Date, judgedUntil: Date): Period[] => {
  if (typeof period === 'string') return periodsToJudge(period, now, judgedUntil);
  const fixed = fixedPeriod(period);
  const oldest = periodsToJudge('daily', now, judgedUntil).at(-1) as Period;
  return fixed.start <= now.toISOString() && fixed.end >= oldest.end ? [fixed] : [];
};

const limitEvaluator = <Config extends Pick<Limit, 'filter'>>(
  configSchema: z.ZodMiniType<Config>,
  limitOf: (config: Config) => Limit,
  wording: Wording,
  lookbackDays: (config: Config) => number = () => 0,
): Evaluator<Config> => ({
  configSchema,
  limitOf,
  periodOf: (config) => {
    const { period } = limitOf(config);
    return typeof period === 'string' ? period : 'fixed';
  },
  periodsOf: (config, now, judgedUntil) => limitPeriods(limitOf(config), now, judgedUntil),
  lookbackDays,
  // The recorder alerts for the values of a limit of each, as it counts them.
  judge: (config, judged) => (limitOf(config).each ? null : judgeLimit(limitOf(config), wording, judged)),
});

/** The cost of a period reaches a threshold. */
export const costThreshold = limitEvaluator(
  thresholdConfigSchema,
  ({ threshold, ...config }) => ({ ...plain, ...config, amountNanoUsd: usdToNanoUsd(threshold) }),
  {
    text: ({ amountNanoUsd }, { usedNanoUsd }) =>
      `Spend is ${comparedUsd(usedNanoUsd)}: it reached the threshold of $${usdOf(amountNanoUsd)}.`,
  },
);

/** The month will cost more than the budget at the current rate (`forecast`), or has cost as much (`used_up`). */
export const budgetForecast = limitEvaluator(
  forecastConfigSchema,
  ({ budget, ...config }) => ({
    ...plain,
    ...config,
    amountNanoUsd: usdToNanoUsd(budget),
    period: 'monthly',
    notifiesForecast: true,
  }),
  {
    event: 'used_up',
    text: ({ amountNanoUsd }, { usedNanoUsd }) =>
      `The budget of $${usdOf(amountNanoUsd)} for the month is used up: ${comparedUsd(usedNanoUsd)} is spent.`,
  },
  () => HISTORY_DAYS,
);

const inNanoUsd = (amounts: Readonly<Record<string, number>>): Record<string, number> =>
  Object.fromEntries(Object.entries(amounts).map(([name, usd]) => [name, usdToNanoUsd(usd)]));

/** Spend reaches percentages of an amount, and requests stop at one of them if the account wants that. */
export const budget = limitEvaluator(
  budgetConfigSchema,
  ({ amount, amountByProject = {}, amountByRole = {}, unknownCost, ...config }) => ({
    ...config,
    ...(config.each && { amountsOf: { project: inNanoUsd(amountByProject), role: inNanoUsd(amountByRole) } }),
    amountNanoUsd: usdToNanoUsd(amount),
    notifiesForecast: false,
    unknownCost:
      typeof unknownCost === 'object'
        ? usdToNanoUsd(unknownCost.countAsUsd)
        : unknownCost === 'block'
          ? ('stop' as const)
          : ('pass' as const),
  }),
  {
    event: 'reached',
    text: (limit, { usedNanoUsd, unpricedRequests, isUsedUp }) => {
      const amount = `budget of $${usdOf(limit.amountNanoUsd)}`;
      const stops = limit.block !== null && isUsedUp;
      if (isUsedUp && usedNanoUsd < blocksFromNanoUsd(limit))
        return `The ${amount} counts as used up, since the cost of some requests is unknown.${stops ? ' Further requests are refused until the period ends or the cost is known.' : ''}`;
      const used = percentText(percentUsed(usedNanoUsd, limit.amountNanoUsd));
      return `${used} of the ${amount} is used: ${comparedUsd(usedNanoUsd)}.${assumedText(limit.unknownCost, unpricedRequests)}${stops ? ' Further requests are refused until the period ends or the budget is raised.' : ''}`;
    },
  },
  ({ period }) => (period === 'monthly' ? HISTORY_DAYS : 0),
);

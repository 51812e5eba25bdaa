import type { Period } from '../calendar/periods.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../calendar/units.ts';
import { bucketOf, startOf } from '../calendar/utc.ts';
import { ifExact, knownCostNanoUsd } from '../spend/counters.ts';
import { BACKTEST_DAYS, type BacktestAlert, type BacktestPoint } from './backtest.ts';
import { HISTORY_DAYS, leastOf, usualOf } from './burn-rate.ts';
import type { Judgement } from './evaluator.ts';
import { type BurnRateCondition, evaluatorOf } from './rule.ts';
import type { Series } from './spend-series.ts';

/** A page shows no more. */
const MAX_ALERTS = 500;

/** The last 30 days, and those before which say what was usual. */
export const valuesRange = (now: Date) => {
  const from = new Date(startOf('day', now).getTime() - BACKTEST_DAYS * DAY_MS);
  return { from, readFrom: new Date(from.getTime() - HISTORY_DAYS * DAY_MS) };
};

/**
 * When a rule that judges values would have fired in the last 30 days, and the spend that its pauses would have stopped: what was above
 * the limit in the hour in which it fired, and all of the value until the pause ended.
 *
 * @param ofValues the series of each value, from `readFrom` of valuesRange on
 */
export const backtestValues = (
  { type, config }: BurnRateCondition,
  ofValues: ReadonlyMap<string, Series>,
  now: Date,
) => {
  const evaluator = evaluatorOf({ type, config });
  const { from } = valuesRange(now);
  const { granularity } = evaluator;
  const periodMs = granularity === 'hour' ? HOUR_MS : DAY_MS;
  const name = granularity === 'hour' ? 'hourly' : 'daily';
  const periods: Period[] = [];
  for (let at = from.getTime(); at < now.getTime(); at += periodMs)
    periods.push({ name, start: new Date(at).toISOString(), end: new Date(at + periodMs).toISOString() });
  const least = leastOf(config);
  const alerts: BacktestAlert[] = [];
  const judged = new Set<string>();
  /** The value that had most in each period. */
  const most = new Map<string, { readonly figure: number; readonly exactly: () => Judgement | null }>();
  let requests = 0;
  for (const [value, series] of ofValues) {
    let usual: ReturnType<typeof usualOf> | undefined;
    const usualAt = (start: string): number | null => {
      if (config.factor === undefined) return null;
      usual ??= usualOf(config, series);
      return usual(start);
    };
    const judge = (period: Period | undefined): Judgement | null => {
      if (period === undefined) return null;
      const first = evaluator.judge({ period, now, series, usual: 0 });
      const exactly = () => evaluator.judge({ period, now, series, usual: usualAt(period.start) });
      if (first && first.figure > (most.get(period.start)?.figure ?? 0))
        most.set(period.start, { figure: first.figure, exactly });
      return first === null || first.figure < least ? first : exactly();
    };
    let pausedUntilMs = 0;
    ifExact(() => {
      for (const [index, period] of periods.entries()) {
        // Values have requests in few hours. In the others none fires.
        const sum = series.sums.get(bucketOf(period.start, granularity));
        if (!sum?.requests) {
          judged.add(period.start);
          continue;
        }
        requests += sum.requests;
        const judgement = judge(period);
        if (judgement !== null) judged.add(period.start);
        if (!judgement?.exceeded || Date.parse(period.start) < pausedUntilMs) continue;
        const { exceeded: _, usual: _usual, forecast: _forecast, event = null, ...rest } = judgement;
        const endMs = Math.min(Date.parse(period.end), now.getTime());
        const minutes = config.pause?.minutes ?? Number.POSITIVE_INFINITY;
        pausedUntilMs = config.pause === null ? 0 : endMs + minutes * MINUTE_MS;
        const stopped = () => {
          const above = rest.unit === 'nanoUsd' ? rest.figure - rest.limit : 0;
          const until = new Date(Math.floor(Math.min(pausedUntilMs, now.getTime()) / periodMs) * periodMs);
          return above + knownCostNanoUsd(series.sum(period.end, until.toISOString()));
        };
        alerts.push({
          ...{ period, by: new Date(endMs).toISOString(), event, ...rest },
          of: { dimension: config.each, value, label: null },
          stoppedNanoUsd: config.pause === null ? null : stopped(),
          isBrief: judge(periods[index + 1])?.exceeded !== true,
        });
      }
    });
  }
  const firedIn = new Set(alerts.map(({ period }) => period.start));
  const points = periods.map(({ start }) => {
    const top = most.get(start);
    const limit = ifExact(() => top?.exactly())?.limit ?? null;
    const time = bucketOf(start, granularity);
    return {
      time,
      figure: top?.figure ?? 0,
      limit,
      usual: null,
      fired: firedIn.has(start),
    } satisfies BacktestPoint;
  });
  alerts.sort((a, b) => (a.by < b.by ? -1 : 1));
  return {
    from: from.toISOString(),
    to: now.toISOString(),
    periods: periods.length,
    unjudgedPeriods: periods.length - judged.size,
    stoppedNanoUsd:
      config.pause === null ? null : alerts.reduce((sum, { stoppedNanoUsd }) => sum + (stoppedNanoUsd ?? 0), 0),
    requests,
    alerts: alerts.slice(-MAX_ALERTS),
    unit: config.measure === 'cost' ? ('nanoUsd' as const) : ('requests' as const),
    points,
  };
};

import type { BudgetEvent } from '../../lambda/domain/limits/evaluator.ts';
import type { RuleCondition } from '../../lambda/domain/limits/rule.ts';

/*
 * What rules must fire, by arithmetic of its own over plain numbers: no code of lambda/domain/limits or calendar. Times are
 * milliseconds, UTC.
 */
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** What was spent in one hour. */
export interface HourOfSpend {
  /** Start of the hour. */
  readonly at: number;
  readonly tag: string | null;
  readonly requests: number;
  readonly errors: number;
  readonly unpriced: number;
  /** Of the unpriced ones: without an end. */
  readonly unfinished: number;
  readonly nanoUsd: number;
}

export interface ModelAlert {
  readonly at: number;
  readonly start: number;
  readonly event: BudgetEvent | null;
  readonly figure: number;
  readonly limit: number;
}

type Name = 'hourly' | 'daily' | 'weekly' | 'monthly';
type Member = 'threshold' | 'factor' | 'minimum' | 'minimumRequests' | 'budget';
type Verdict = Omit<ModelAlert, 'at' | 'start'> & { readonly fires: boolean };

const startOfPeriod = (name: Name, at: number): number => {
  const date = new Date(at);
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  if (name === 'hourly') return Date.UTC(year, month, day, date.getUTCHours());
  if (name === 'daily') return Date.UTC(year, month, day);
  if (name === 'weekly') return Date.UTC(year, month, day - ((date.getUTCDay() + 6) % 7));
  return Date.UTC(year, month);
};
const endOfPeriod = (name: Name, start: number): number => {
  const date = new Date(start);
  if (name === 'monthly') return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1);
  return start + { hourly: HOUR, daily: DAY, weekly: 7 * DAY }[name];
};

/** Judges a rule at each of these instants, which ascend, each time with what was spent before. */
export const modelOf = (
  { type, config }: RuleCondition,
  history: readonly HourOfSpend[],
  instants: readonly number[],
  effectiveFrom: number,
): ModelAlert[] => {
  const { period: name = 'monthly', ...numbers } = config as Partial<Record<Member, number>> & { period?: Name };
  const { threshold = 0, factor = 0, minimum = 0, minimumRequests = 0, budget = 0 } = numbers;
  const tag = config.filter?.tag;
  const counted = history.filter((each) => tag === undefined || each.tag === tag);
  const nano = (usd: number) => Math.round(usd * 1e9);

  const sumOf = (now: number, from: number, to: number) => {
    const sum = { requests: 0, errors: 0, unpriced: 0, unfinished: 0, nanoUsd: 0 };
    for (const each of counted)
      if (each.at < now && each.at >= from && each.at < to)
        for (const member of Object.keys(sum) as (keyof typeof sum)[]) sum[member] += each[member];
    return sum;
  };

  const judge = (now: number, start: number, end: number): Verdict | null => {
    const sum = sumOf(now, start, end);
    if (type === 'cost_threshold') {
      const limit = nano(threshold);
      return { fires: sum.nanoUsd >= limit, event: null, figure: sum.nanoUsd, limit };
    }
    if (type === 'spend_anomaly') {
      const length = name === 'daily' ? DAY : 7 * DAY;
      const costs: number[] = [];
      for (let back = 1; back <= (name === 'daily' ? 14 : 8); back++) {
        const before = sumOf(now, start - back * length, start - (back - 1) * length);
        const isUnknown = before.nanoUsd === 0 && before.unpriced > 0;
        if (before.requests > 0 && !isUnknown) costs.push(before.nanoUsd);
      }
      if (costs.length < (name === 'daily' ? 5 : 3)) return null;
      costs.sort((a, b) => a - b);
      const half = costs.length / 2;
      const median = costs.length % 2 === 1 ? costs[half - 0.5]! : (costs[half - 1]! + costs[half]!) / 2;
      const limit = Math.max(Math.round(Math.round(median) * factor), nano(minimum));
      return { fires: sum.nanoUsd >= limit, event: null, figure: sum.nanoUsd, limit };
    }
    if (type === 'error_rate') {
      if (sum.requests < minimumRequests) return null;
      const figure = Math.floor((sum.errors * 10_000) / sum.requests) / 100;
      return { fires: sum.errors * 100 >= threshold * sum.requests, event: null, figure, limit: threshold };
    }
    if (type === 'unpriced_usage') {
      let figure = sum.unpriced;
      const [length, wait] = name === 'hourly' ? [HOUR, 2 * HOUR] : [DAY, DAY];
      for (let bucket = start; bucket < end; bucket += length)
        if (bucket + length > now - wait) figure -= sumOf(now, bucket, bucket + length).unfinished;
      return { fires: figure >= threshold, event: null, figure, limit: threshold };
    }
    const limit = nano(budget);
    if (sum.nanoUsd >= limit) return { fires: true, event: 'used_up', figure: sum.nanoUsd, limit };
    if (now >= end) return null;
    const today = Math.floor(now / DAY) * DAY;
    if (sumOf(now, today - 14 * DAY, today - 6 * DAY).requests === 0) return null;
    const rate = sumOf(now, today - 7 * DAY, today).nanoUsd / 7;
    const daysAfterToday = (end - today) / DAY - 1;
    const figure = Math.round(
      sumOf(now, start, today).nanoUsd + Math.max(rate, sumOf(now, today, today + DAY).nanoUsd) + rate * daysAfterToday,
    );
    return { fires: figure > limit, event: 'forecast', figure, limit };
  };

  const alerts: ModelAlert[] = [];
  let judgedUntil = instants[0] ?? 0;
  for (const at of instants) {
    const late = name === 'hourly' ? 3 * HOUR : 2 * DAY;
    const oldest = Math.max(Math.min(judgedUntil, at), at - DAY) - late;
    for (let start = startOfPeriod(name, at); ; start = startOfPeriod(name, start - 1)) {
      const end = endOfPeriod(name, start);
      if (end <= at && end <= oldest) break;
      if (end <= effectiveFrom) continue;
      const verdict = judge(at, start, end);
      const hasFired = alerts.some(
        (each) => each.start === start && (each.event === verdict?.event || each.event === 'used_up'),
      );
      if (!verdict?.fires || hasFired) continue;
      const { fires: _, ...alert } = verdict;
      alerts.push({ at, start, ...alert });
    }
    judgedUntil = at;
  }
  return alerts;
};

import QuickLRU from 'quick-lru';
import type { Rule } from '../data/alerts/rules.ts';
import { coveringRange } from '../domain/calendar/range.ts';
import { DAY_MS } from '../domain/calendar/units.ts';
import { type Day, dayOf } from '../domain/calendar/utc.ts';
import { HISTORY_DAYS, usualOf } from '../domain/limits/burn-rate.ts';
import type { BoundEvaluator, BurnRateCondition } from '../domain/limits/rule.ts';
import { splitSeries } from '../domain/limits/split-series.ts';
import type { ReadCounters } from '../domain/spend/spend-question.ts';

/** By value; null where it has too little history. */
type UsualHours = ReadonlyMap<string, number | null>;

const MAX_ENTRIES = 200;

/**
 * What is usual for the values of a rule on a day, by the 14 days before. It is read once a day by each process, and only for rules that
 * may fire: 14 days by the hour are much.
 */
export const openUsualHours = (readCounters: ReadCounters) => {
  const cache = new QuickLRU<string, Promise<UsualHours>>({ maxSize: MAX_ENTRIES });

  const read = async (
    { accountId, condition }: Rule<BurnRateCondition>,
    evaluator: BoundEvaluator,
    day: Day,
  ): Promise<UsualHours> => {
    const start = Date.parse(day);
    const range = coveringRange('hour', new Date(start - HISTORY_DAYS * DAY_MS), new Date(start));
    const series = splitSeries(evaluator);
    for await (const counter of readCounters({ accountId, range, groupBy: evaluator.readBy })) series.add(counter);
    return new Map([...series.ofValues].map(([value, each]) => [value, usualOf(condition.config, day, each)]));
  };

  return (rule: Rule<BurnRateCondition>, evaluator: BoundEvaluator, start: string): Promise<UsualHours> => {
    const day = dayOf(start);
    const name = [rule.accountId, rule.ruleId, rule.conditionRevision, day].join();
    const cached = cache.get(name) ?? read(rule, evaluator, day);
    cache.set(name, cached);
    cached.catch(() => cache.delete(name));
    return cached;
  };
};

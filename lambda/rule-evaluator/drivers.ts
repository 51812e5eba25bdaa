import type { ServiceKeys } from '../data/accounts/service-keys.ts';
import type { Driver } from '../domain/alert-rules/alert.ts';
import { driverDimensionsOf, driversOf } from '../domain/alert-rules/drivers.ts';
import type { BoundEvaluator } from '../domain/alert-rules/rule.ts';
import type { ReadRuleCounters, RuleCounter } from '../domain/alert-rules/rule-counters.ts';
import { readUntil } from '../domain/alert-rules/spend-query.ts';
import type { Period } from '../domain/calendar/periods.ts';
import { coveringRange } from '../domain/calendar/range.ts';

/** Finds what most of an observation came from. It is read for alerts only, which are rare. */
export const openDrivers =
  (readCounters: ReadRuleCounters, keys: Pick<ServiceKeys, 'list'>) =>
  async (accountId: string, evaluator: BoundEvaluator, period: Period, now: Date): Promise<Driver[]> => {
    const range = coveringRange(
      evaluator.granularity,
      new Date(period.start),
      new Date(Math.min(readUntil(now).getTime(), Date.parse(period.end))),
    );
    const counters: RuleCounter[] = [];
    for await (const counter of readCounters(accountId, range, driverDimensionsOf(evaluator))) counters.push(counter);
    const drivers = driversOf(counters, evaluator);
    if (!drivers.some(({ dimension }) => dimension === 'key')) return drivers;
    const names = new Map((await keys.list(accountId)).map(({ keyId, name }) => [keyId, name]));
    return drivers.map((driver) =>
      driver.dimension === 'key' ? { ...driver, label: names.get(driver.value ?? '') ?? null } : driver,
    );
  };

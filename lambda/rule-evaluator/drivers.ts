import type { ServiceKeys } from '../data/accounts/service-keys.ts';
import type { Driver } from '../domain/alerts/alert.ts';
import { driverDimensionsOf, driversOf } from '../domain/alerts/drivers.ts';
import type { Period } from '../domain/calendar/periods.ts';
import { coveringRange } from '../domain/calendar/range.ts';
import type { BoundEvaluator } from '../domain/limits/rule.ts';
import { readUntil } from '../domain/limits/spend-query.ts';
import type { SpendCounter } from '../domain/spend/counters.ts';
import type { ReadCounters } from '../domain/spend/spend-question.ts';

/**
 * Finds what most of an observation came from. It is read for alerts only, which are rare. Many alerts of one rule and period come one
 * after the other: what was read last serves the next.
 */
export const openDrivers =
  (readCounters: ReadCounters, keys: Pick<ServiceKeys, 'list'>) => (accountId: string, now: Date) => {
    let last: { readonly name: string; readonly counters: readonly SpendCounter[] } | undefined;
    let names: ReadonlyMap<string, string> | undefined;

    const read = async (evaluator: BoundEvaluator, period: Period): Promise<readonly SpendCounter[]> => {
      const range = coveringRange(
        evaluator.granularity,
        new Date(period.start),
        new Date(Math.min(readUntil(now).getTime(), Date.parse(period.end))),
      );
      const dimensions = driverDimensionsOf(evaluator);
      const name = JSON.stringify([range, dimensions]);
      if (last?.name === name) return last.counters;
      const counters: SpendCounter[] = [];
      for await (const counter of readCounters({ accountId, range, groupBy: dimensions })) counters.push(counter);
      last = { name, counters };
      return counters;
    };

    return async (evaluator: BoundEvaluator, period: Period): Promise<Driver[]> => {
      const drivers = driversOf(await read(evaluator, period), evaluator);
      if (!drivers.some(({ dimension }) => dimension === 'key')) return drivers;
      names ??= new Map((await keys.list(accountId)).map(({ keyId, name }) => [keyId, name]));
      return drivers.map((driver) =>
        driver.dimension === 'key' ? { ...driver, label: names?.get(driver.value ?? '') ?? null } : driver,
      );
    };
  };

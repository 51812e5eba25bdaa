import { boundedSum, type CounterName, type Counters } from './counters.ts';

type Sum = Partial<Record<CounterName, number>>;

/** Adds up counters by key, in place: a year by day of a thousand crosses is a third of a million additions. */
export const sumMap = () => {
  const sums = new Map<string, Sum>();
  return {
    sums: sums as ReadonlyMap<string, Counters>,
    add: (key: string, counters: Counters): void => {
      const sum = sums.get(key);
      if (sum === undefined) {
        sums.set(key, { ...counters });
        return;
      }
      for (const name of Object.keys(counters) as CounterName[])
        sum[name] = boundedSum(sum[name] ?? 0, counters[name] ?? 0);
    },
  };
};

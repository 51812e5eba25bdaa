import { addCounters, type Counters, PAST_EXACT, type SpendCounter, sumMap } from './counters.ts';
import {
  type AllocationName,
  allocationCrossNames,
  noDimensions,
  OTHER,
  type SpendDimensions,
  UNKNOWN,
} from './dimensions.ts';
import { groupKey, namesOf } from './spend-report.ts';

/** Sums of differences, which may be below 0. */
const signed = (name: string): boolean => name.startsWith('listDifference');

/** Difference of `total` and `part`. Never negative, but for sums of differences. How much of it is overflow is not known. */
const lacking = (total: Counters, part: Counters): Counters => {
  const rest: Record<string, number> = {};
  for (const name of new Set([...Object.keys(total), ...Object.keys(part)]) as Set<keyof Counters>) {
    if (name === 'overflowRequests') continue;
    const value = total[name] ?? 0;
    const difference = value === PAST_EXACT ? PAST_EXACT : value - (part[name] ?? 0);
    if (difference > 0 || (difference < 0 && signed(name))) rest[name] = difference;
  }
  return rest;
};

/** True where no sum of `part` is above that of `total`: then what is lacking of each adds up. */
const isWithin = (part: Counters, total: Counters): boolean =>
  (Object.keys(part) as (keyof Counters)[]).every(
    (name) => signed(name) || name === 'overflowRequests' || (part[name] ?? 0) <= (total[name] ?? 0),
  );

interface Sum {
  readonly dimensions: SpendDimensions;
  readonly counters: Counters;
}

const sumsOf = (spendCounters: readonly SpendCounter[]): ReadonlyMap<string, Counters> => {
  const { sums, add } = sumMap();
  for (const { dimensions, counters } of spendCounters) add(groupKey(dimensions, allocationCrossNames), counters);
  return sums;
};

/** Sums of one provider's crosses that the allocation dimension lacks. */
const lackingOf = (provider: string, crosses: readonly SpendCounter[], counted: readonly SpendCounter[]): Sum[] => {
  const [total, part] = [sumsOf(crosses), sumsOf(counted)];
  const eachOf = (rest: (key: string, counters: Counters) => Counters): Sum[] =>
    [...total]
      .map(([key, counters]) => ({
        dimensions: { ...noDimensions, ...namesOf(key, allocationCrossNames) },
        counters: rest(key, counters),
      }))
      .filter(({ counters }) => counters.requests);
  if (part.size === 0) return eachOf((_, counters) => counters);
  const [all, known] = [total, part].map((sums) => [...sums.values()].reduce(addCounters, {})) as [Counters, Counters];
  const rest = lacking(all, known);
  if (!rest.requests) return [];
  if ([...part].every(([key, counters]) => isWithin(counters, total.get(key) ?? {})))
    return eachOf((key, counters) => lacking(counters, part.get(key) ?? {}));
  // Models and keys overflowed in one of both: only the provider of the rest is certain.
  return [{ dimensions: { ...noDimensions, provider, model: OTHER, keyId: OTHER }, counters: rest }];
};

/**
 * The spend counters of an allocation dimension, and with the value UNKNOWN all that the crosses count and the dimension does not: what
 * was recorded while it was not declared. So the sums by each dimension add up to the total, whichever recorder knew of it when.
 *
 * @param crosses read before `counted`: then what is recorded in between is counted, and not unknown. Where something is counted, all of
 * allocationCrossNames must be separate, whatever a report asks for: totals must not depend on its groups
 * @returns ascending by bucket
 */
export const withUnknownValues = (
  { crosses, counted }: { readonly crosses: readonly SpendCounter[]; readonly counted: readonly SpendCounter[] },
  allocation: AllocationName,
  bucketOf: (time: string) => string,
): SpendCounter[] => {
  const [crossesOf, countedOf] = [crosses, counted].map((all) => Map.groupBy(all, ({ time }) => bucketOf(time))) as [
    Map<string, SpendCounter[]>,
    Map<string, SpendCounter[]>,
  ];
  const providerOf = ({ dimensions }: SpendCounter) => dimensions.provider;
  return [...new Set([...crossesOf.keys(), ...countedOf.keys()])].sort().flatMap((time) => {
    const found = countedOf.get(time) ?? [];
    const byProvider = Map.groupBy(found, providerOf);
    const unknown = [...Map.groupBy(crossesOf.get(time) ?? [], providerOf)].flatMap(([provider, some]) =>
      lackingOf(provider, some, byProvider.get(provider) ?? []),
    );
    return [
      ...found,
      ...unknown.map(({ dimensions, counters }) => ({
        time,
        dimensions: { ...dimensions, [allocation]: UNKNOWN },
        counters,
      })),
    ];
  });
};

import { periodAt } from '../calendar/periods.ts';
import { DAY_SECONDS } from '../calendar/units.ts';
import { dimensionsOf } from '../spend/contribution.ts';
import { declaredName } from '../spend/declared-dimensions.ts';
import type { SpendDimensions } from '../spend/dimensions.ts';
import type { RequestRecord } from '../spend/request-record.ts';
import { type EachName, type KeyPlaces, type LimitPeriod, limitPeriodAt, type ValueCount, valueFor } from './each.ts';
import { periodId, type Reservation } from './reservation.ts';
import { passesRule, type RuleFilter } from './spend-series.ts';

/** A limit of each, as far as it decides under which value a request counts. */
export interface CountedLimit {
  readonly budgetId: string;
  readonly each: EachName;
  readonly filter: RuleFilter | undefined;
  readonly period: LimitPeriod;
  readonly unknownNanoUsd: number;
}

/** The limits of each that an account has, and its keys. */
export interface CountedLimits {
  readonly limits: readonly CountedLimit[];
  readonly keys: KeyPlaces;
}

/** All that a filter may name. */
const dimensionsToFilter = (record: RequestRecord, keys: KeyPlaces): SpendDimensions => ({
  ...Object.fromEntries(Object.entries(record.metadata).map(([name, value]) => [declaredName(name), value])),
  ...dimensionsOf(record),
  client: record.client,
  project: keys[record.keyId ?? '']?.project ?? null,
  member: keys[record.keyId ?? '']?.member ?? null,
});

/**
 * The limits and values that a request counts under, as things are when it is recorded. What it had reserved from a value counts there,
 * though its key may belong to somebody else by then.
 */
export const valueCountsOf = (
  record: RequestRecord,
  { limits, keys }: CountedLimits,
  reservations: readonly Reservation[] = [],
): ValueCount[] =>
  limits.flatMap(({ budgetId, each, filter, period, unknownNanoUsd }) => {
    const current = limitPeriodAt(period, new Date(record.startedAt));
    if (current === null || !passesRule(dimensionsToFilter(record, keys), filter)) return [];
    const id = periodId(current);
    const reserved = reservations.find((one) => one.budgetId === budgetId && one.periodId === id)?.value;
    const value = reserved === undefined ? valueFor(each, record, keys) : reserved;
    return [{ budgetId, periodId: id, value, unknownNanoUsd }];
  });

/** A request adds this to a value that it counts under. */
export const useBy = (
  { costNanoUsd, provenance }: Pick<RequestRecord, 'costNanoUsd' | 'provenance'>,
  { unknownNanoUsd }: ValueCount,
) => {
  const isUnpriced = provenance === 'unknown';
  return { usedNanoUsd: isUnpriced ? unknownNanoUsd : (costNanoUsd ?? 0), unpricedRequests: Number(isUnpriced) };
};

/** For this long late events and corrected prices still change a period's values. Then they are deleted, and only records remain. */
const KEPT_DAYS = 40;
const LONGEST_FIXED_DAYS = 366;

/** Epoch seconds after which the values of a period may be gone. */
export const valueExpiry = (id: string): number => {
  const [name = '', start = ''] = id.split('#');
  const startSeconds = Date.parse(start) / 1_000;
  const endSeconds =
    name === 'fixed'
      ? startSeconds + LONGEST_FIXED_DAYS * DAY_SECONDS
      : Date.parse(periodAt(name as 'daily', new Date(start)).end) / 1_000;
  return endSeconds + KEPT_DAYS * DAY_SECONDS;
};

import { type Block, type EachLimit, eachOf, type ReservedBudget } from '../../domain/limits/block.ts';
import { amountFor, atPercent, isAtLimit, limitPeriodAt, valueFor } from '../../domain/limits/each.ts';
import { periodId } from '../../domain/limits/reservation.ts';
import { withoutReserved } from '../../domain/spend/dimensions.ts';
import type { Admitted } from '../admission/admit.ts';
import type { Unavailable } from '../admission/cached-reads.ts';
import type { KnownValue, ValueLookup } from '../admission/value-lookup.ts';
import type { RequestIdentity } from './request-identity.ts';

/** Effect of limits of each on one request. */
export interface ValuesCheck {
  /** Values that are at their limit. */
  readonly blocks: readonly Block[];
  readonly reserved: readonly ReservedBudget[];
  readonly remainingNanoUsd: readonly number[];
  /** A value could not be read, and its limit wants the request to pass, or to stop. */
  readonly unread: 'pass' | 'stop' | null;
}

/** Values are read of few accounts: for the others this is the whole check. */
const NOTHING: ValuesCheck = { blocks: [], reserved: [], remainingNanoUsd: [], unread: null };

/** The metadata as a record has it: under these names values are counted. */
const asRecorded = (metadata: RequestIdentity['metadata']) =>
  metadata && Object.fromEntries(Object.entries(metadata).map(([name, value]) => [name, withoutReserved(value)]));

interface Value {
  readonly limit: EachLimit;
  readonly value: string | null;
  readonly until: string;
  readonly known: KnownValue | Unavailable;
}

const checkOf = (values: readonly Value[], now: Date): ValuesCheck => {
  const blocks: Block[] = [];
  const reserved: ReservedBudget[] = [];
  const remainingNanoUsd: number[] = [];
  let unread: ValuesCheck['unread'] = null;
  for (const { limit, value, until, known } of values) {
    const { id, name, each, scope, period, percent, enforcement, unknownCost, onUnavailable, askUrl } = limit;
    if (known === 'unavailable') {
      if (enforcement !== null && unread !== 'stop') unread = onUnavailable;
      continue;
    }
    const amount = amountFor(limit, value, known.override, now);
    if (amount.nanoUsd === null) continue;
    const of = { each, value, askUrl };
    const facts = { id, name, scope, of, amountNanoUsd: amount.nanoUsd };
    if (limit.showsRemaining && scope.model === undefined) remainingNanoUsd.push(amount.nanoUsd - known.usedNanoUsd);
    if (enforcement !== null && isAtLimit(limit, known, amount))
      blocks.push({ ...facts, kind: 'budget', until, spentNanoUsd: known.usedNanoUsd });
    else if (enforcement === 'reserved')
      reserved.push({
        ...facts,
        ...{ period, unknownCost, onUnavailable },
        limitNanoUsd: atPercent({ amountNanoUsd: amount.nanoUsd }, percent),
      });
  }
  return { blocks, reserved, remainingNanoUsd, unread };
};

/**
 * Checks the values that a request has against the account's limits of each: of each limit only the value of this request is read.
 * Synchronous where they are cached, and for accounts without such limits.
 */
export const checkValues = (
  { owner, blocks }: Admitted,
  identity: RequestIdentity,
  now: Date,
  lookUpValue: ValueLookup,
): ValuesCheck | Promise<ValuesCheck> => {
  if (blocks === undefined || blocks === 'unavailable' || blocks.each.length === 0 || owner === null) return NOTHING;
  const request = { ...identity, metadata: asRecorded(identity.metadata) };
  const values = eachOf(blocks, identity).flatMap((limit) => {
    const period = limitPeriodAt(limit.period, new Date(identity.startedAt));
    // A key that is not known yet: who it belongs to is known within a minute.
    const isPlaced = (limit.each !== 'member' && limit.each !== 'project') || Object.hasOwn(blocks.keys, owner.keyId);
    // Others only send alerts.
    const isConcerned = limit.enforcement !== null || limit.showsRemaining;
    if (period === null || !isPlaced || !isConcerned) return [];
    const value = valueFor(limit.each, request, blocks.keys);
    const name = { accountId: owner.accountId, budgetId: limit.id, periodId: periodId(period), value };
    return [{ limit, value, until: period.end, known: lookUpValue(name) }];
  });
  if (values.every((each): each is Value => !(each.known instanceof Promise))) return checkOf(values, now);
  return Promise.all(values.map(async ({ known, ...each }) => ({ ...each, known: await known }))).then((read) =>
    checkOf(read, now),
  );
};

import { activeKeyIds, type KeyInProject } from '../accounts/project.ts';
import type { Period } from '../calendar/periods.ts';
import type { Block, BlockScope, Blocks, Remaining, ReservedBudget } from './block.ts';
import type { UseSample } from './bound.ts';
import { blocksFromNanoUsd, type Limit, type LimitUse } from './limit.ts';
import { periodId, type Reservation } from './reservation.ts';

/** A rule or budget whose limit has a period now. */
export interface CurrentLimit {
  readonly ruleId: string;
  readonly name: string;
  readonly limit: Limit;
  readonly period: Period;
}

/** The same with what the period has used. */
export interface LimitState extends CurrentLimit {
  readonly use: LimitUse;
}

type Filter = NonNullable<Limit['filter']>;

const keyIdsOf = ({ key, project }: Filter, keys: readonly KeyInProject[]): readonly string[] | undefined => {
  if (project === undefined) return key === undefined ? undefined : [key];
  return activeKeyIds(keys, project).filter((keyId) => key === undefined || keyId === key);
};

/** The requests that a filter matches. @param keys of the account: a project is those that it has now */
export const scopeOf = (filter: Filter | undefined, keys: readonly KeyInProject[]): BlockScope => {
  const { provider, model, tag, client, dim } = filter ?? {};
  const keyIds = keyIdsOf(filter ?? {}, keys);
  return {
    ...(provider !== undefined && { provider }),
    ...(model !== undefined && { model }),
    ...(tag !== undefined && { tag }),
    ...(keyIds !== undefined && { keyIds }),
    ...(client !== undefined && { client }),
    ...(dim !== undefined && { metadata: dim }),
  };
};

/** True where the gateway has to know of a limit. */
export const concernsGateway = ({ block, showRemaining }: Pick<Limit, 'block' | 'showRemaining'>): boolean =>
  block !== null || showRemaining;

const blockOf = ({ ruleId, name, limit, period, use }: LimitState, keys: readonly KeyInProject[]): Block[] =>
  limit.block !== null && use.isUsedUp
    ? [
        {
          id: ruleId,
          kind: 'budget',
          name,
          scope: scopeOf(limit.filter, keys),
          until: period.end,
          amountNanoUsd: limit.amountNanoUsd,
          spentNanoUsd: use.usedNanoUsd,
        },
      ]
    : [];

const remainingOf = ({ ruleId, limit, period, use }: LimitState, keys: readonly KeyInProject[]): Remaining[] =>
  limit.showRemaining
    ? [
        {
          id: ruleId,
          scope: scopeOf(limit.filter, keys),
          until: period.end,
          nanoUsd: limit.amountNanoUsd - use.usedNanoUsd,
        },
      ]
    : [];

/** True where requests reserve from a limit. */
export const isReserved = ({ block }: Pick<Limit, 'block'>): boolean => block?.enforcement === 'reserved';

/** The items that requests reserve from, of those limits that have some. */
export const reservedPeriods = (limits: readonly CurrentLimit[]): Pick<Reservation, 'budgetId' | 'periodId'>[] =>
  limits
    .filter(({ limit }) => isReserved(limit))
    .map(({ ruleId, period }) => ({ budgetId: ruleId, periodId: periodId(period) }));

/** The use of limits, in nano-USD, by id. */
export const usedById = (states: readonly LimitState[]): ReadonlyMap<string, number> =>
  new Map(states.map(({ ruleId, use }) => [ruleId, use.usedNanoUsd]));

/** The use of limits that stop requests, for their bounds. */
export const useSamples = (states: readonly LimitState[]): UseSample[] =>
  states
    .filter(({ limit }) => limit.block !== null)
    .map(({ ruleId, period, use }) => ({ budgetId: ruleId, periodId: periodId(period), usedNanoUsd: use.usedNanoUsd }));

const reservedOf = ({ ruleId, name, limit }: LimitState, keys: readonly KeyInProject[]): ReservedBudget[] =>
  isReserved(limit)
    ? [
        {
          id: ruleId,
          name,
          scope: scopeOf(limit.filter, keys),
          period: limit.period,
          amountNanoUsd: limit.amountNanoUsd,
          limitNanoUsd: blocksFromNanoUsd(limit),
          unknownCost: limit.unknownCost,
          onUnavailable: limit.block?.onUnavailable ?? 'pass',
        },
      ]
    : [];

/**
 * The blocks of an account after its limits were judged. Pauses stay, and so do the blocks of limits that could not be judged. A block
 * keeps the amount that was spent when it began, as long as it lasts.
 *
 * @param unjudged ids of limits whose state is not known
 * @param keys of the account; empty where no limit filters by project
 */
export const withLimits = (
  { blocks, remaining, reserved }: Blocks,
  states: readonly LimitState[],
  unjudged: ReadonlySet<string>,
  keys: readonly KeyInProject[],
): Blocks => {
  const begun = new Map(blocks.map((block) => [block.id, block]));
  const since = (block: Block): Block => {
    const before = begun.get(block.id);
    const isSame = before?.until === block.until && before.amountNanoUsd === block.amountNanoUsd;
    return isSame ? { ...block, spentNanoUsd: before.spentNanoUsd } : block;
  };
  return {
    blocks: [
      ...blocks.filter(({ id, kind }) => kind !== 'budget' || unjudged.has(id)),
      ...states.flatMap((state) => blockOf(state, keys)).map(since),
    ],
    remaining: [
      ...remaining.filter(({ id }) => unjudged.has(id)),
      ...states.flatMap((state) => remainingOf(state, keys)),
    ],
    reserved: [...reserved.filter(({ id }) => unjudged.has(id)), ...states.flatMap((state) => reservedOf(state, keys))],
  };
};

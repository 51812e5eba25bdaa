import type { Period } from '../calendar/periods.ts';
import { DAY_MS, MINUTE_MS } from '../calendar/units.ts';
import { type KeyOfSpend, keysIn, needsKeys } from '../spend/key-dimensions.ts';
import type { Block, BlockScope, Blocks, EachLimit } from './block.ts';
import type { UseSample } from './bound.ts';
import { type GroupAmount, placesOf } from './each.ts';
import { blocksFromNanoUsd, type Limit, type LimitUse } from './limit.ts';
import { periodId, type Reservation } from './reservation.ts';

/** The gateway keeps blocks for 5 s, and what is on keys for a minute. */
export const KNOWN_MS = 5_000;
export const KNOWN_ON_KEYS_MS = MINUTE_MS + KNOWN_MS;

/** A rule or budget whose limit has a period now. Limits of each are not among them: their values are counted one by one. */
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

/** A key that may send requests. */
export interface BlockableKey extends KeyOfSpend {
  readonly status: 'active' | 'revoked';
  /** ISO 8601 UTC. */
  readonly revokedAt?: string | undefined;
}

/** The keys of a filter whose requests can be stopped: those of a revoked key are refused anyway. */
const keyIdsOf = ({ key, ...filter }: Filter, keys: readonly BlockableKey[]): readonly string[] | undefined => {
  if (!needsKeys(filter)) return key === undefined ? undefined : [key];
  return keysIn({ ...filter, keyId: key }, keys).flatMap(({ status, keyId }) => (status === 'active' ? keyId : []));
};

/** The requests that a filter matches. @param keys of the account: a project or member is those that it has now */
export const scopeOf = (filter: Filter | undefined, keys: readonly BlockableKey[]): BlockScope => {
  const { provider, model, tag, client, dim } = filter ?? {};
  return { provider, model, tag, keyIds: keyIdsOf(filter ?? {}, keys), client, metadata: dim };
};

/** True where the gateway has to know of a limit. */
export const concernsGateway = ({ block, showRemaining }: Pick<Limit, 'block' | 'showRemaining'>): boolean =>
  block !== null || showRemaining;

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

/** A member, as far as the amounts of groups depend on it. */
interface MemberOfGroups {
  readonly userId: string;
  readonly role: string;
  /** Undefined for all projects. */
  readonly projects?: readonly string[] | undefined;
}

export interface Belongings {
  readonly keys: readonly BlockableKey[];
  readonly members: readonly MemberOfGroups[];
}

/**
 * The values of each group: a member is of the projects that it is limited to or has an active key in, a key has the role of its member. A
 * value is in one group only, the first of those that it could be in.
 */
const groupsOf = ({ each, amountsOf }: Limit, { keys, members }: Belongings): GroupAmount[] => {
  const roleOf = new Map(members.map(({ userId, role }) => [userId, role]));
  const active = keys.filter(({ status }) => status === 'active');
  const keysOf = Map.groupBy(active, ({ ownerUserId }) => ownerUserId);
  const ofMember = ({ userId, role, projects = [] }: MemberOfGroups) => {
    const own = keysOf.get(userId)?.map(({ projectId }) => projectId) ?? [];
    return { value: userId, project: [...projects, ...own], role: [role] };
  };
  const ofKey = ({ keyId, projectId, ownerUserId = '' }: BlockableKey) => {
    return { value: keyId, project: [projectId], role: [roleOf.get(ownerUserId)] };
  };
  const left = new Set<ReturnType<typeof ofMember | typeof ofKey>>(
    amountsOf && (each === 'key' ? keys.map(ofKey) : members.map(ofMember)),
  );
  return (['project', 'role'] as const).flatMap((source) =>
    Object.entries(amountsOf?.[source] ?? {})
      .toSorted(([, a], [, b]) => b - a)
      .map(([name, amountNanoUsd]) => {
        const found = [...left].filter((belonging) => belonging[source].includes(name));
        for (const belonging of found) left.delete(belonging);
        return { source, name, amountNanoUsd, values: found.map(({ value }) => value) };
      }),
  );
};

/** The page on which a person asks for more than a limit gives. */
export const askPage = (dashboardUrl: string): string => `${dashboardUrl}/access`;

/** A limit of each as the gateway has to know it; undefined for another limit. @param askUrl the page for asking, without its budget */
export const eachLimitOf = (
  { ruleId, name, limit }: Pick<CurrentLimit, 'ruleId' | 'name' | 'limit'>,
  belongings: Belongings,
  askUrl: string,
): EachLimit | undefined =>
  limit.each && {
    id: ruleId,
    name,
    each: limit.each,
    scope: scopeOf(limit.filter, belongings.keys),
    period: limit.period,
    amountNanoUsd: limit.amountNanoUsd,
    groups: groupsOf(limit, belongings),
    percent: limit.block?.atPercent ?? 100,
    enforcement: limit.block?.enforcement ?? null,
    unknownCost: limit.unknownCost,
    onUnavailable: limit.block?.onUnavailable ?? 'pass',
    showsRemaining: limit.showRemaining,
    notifyAt: limit.notifyAt,
    askUrl: `${askUrl}?ask=${ruleId}`,
  };

/** True where only the account's keys, or its members, say what a limit of each holds for. */
export const needsBelongings = ({ each, amountsOf }: Pick<Limit, 'each' | 'amountsOf'>): boolean =>
  each === 'member' ||
  each === 'project' ||
  Object.values(amountsOf ?? {}).some((amounts) => Object.keys(amounts).length > 0);

/** The values of a limit of each that its groups give other amounts, as far as they are of some keys. */
const withKeysAlone = (limit: EachLimit, keys: readonly BlockableKey[]): EachLimit => {
  const known = new Set(keys.map(({ keyId, ownerUserId }) => (limit.each === 'key' ? keyId : ownerUserId)));
  const groups = limit.groups.map((group) => ({ ...group, values: group.values.filter((value) => known.has(value)) }));
  return { ...limit, groups };
};

/** Late events of revoked keys come for a day, most within minutes. Alerts need those keys' amounts, but an item of the table has 400 KB. */
const MAX_REVOKED = 200;

/**
 * The blocks of an account after its limits were judged. Pauses and access rules stay. A block keeps the amount that was spent when it
 * began, as long as it lasts.
 *
 * @param keys of the account; empty where no limit filters by project or member
 * @param each all limits of each
 */
export const withLimits = (
  { blocks, ...others }: Blocks,
  states: readonly LimitState[],
  keys: readonly BlockableKey[],
  each: readonly EachLimit[],
  now: Date,
): Blocks => {
  const yesterday = new Date(now.getTime() - DAY_MS).toISOString();
  const late = keys.filter(({ revokedAt = '' }) => revokedAt > yesterday);
  const byEnd = (a: BlockableKey, b: BlockableKey) => `${a.revokedAt}`.localeCompare(`${b.revokedAt}`);
  const counting = [...keys.filter(({ status }) => status === 'active'), ...late.sort(byEnd).slice(-MAX_REVOKED)];
  const begun = new Map(blocks.map((block) => [block.id, block]));
  const since = (block: Block): Block => {
    const before = begun.get(block.id);
    const isSame = before?.until === block.until && before.amountNanoUsd === block.amountNanoUsd;
    return isSame ? { ...block, spentNanoUsd: before.spentNanoUsd } : block;
  };
  const judged = states.map(({ ruleId: id, name, limit, period, use: { usedNanoUsd, isUsedUp } }) => {
    const { block, amountNanoUsd, unknownCost } = limit;
    const common = { id, scope: scopeOf(limit.filter, keys) };
    const budget = { ...common, name, amountNanoUsd };
    const until = period.end;
    return {
      block: block && isUsedUp && since({ ...budget, kind: 'budget', until, spentNanoUsd: usedNanoUsd }),
      remaining: limit.showRemaining && { ...common, until, nanoUsd: amountNanoUsd - usedNanoUsd },
      reserved: isReserved(limit) && {
        ...{ ...budget, period: limit.period, limitNanoUsd: blocksFromNanoUsd(limit), unknownCost },
        onUnavailable: block?.onUnavailable ?? 'pass',
      },
    };
  });
  return {
    ...others,
    blocks: [...blocks.filter(({ kind }) => kind !== 'budget'), ...judged.flatMap(({ block }) => block || [])],
    remaining: judged.flatMap((state) => state.remaining || []),
    reserved: judged.flatMap((state) => state.reserved || []),
    each: each.map((limit) => withKeysAlone(limit, counting)),
    keys: each.some((limit) => limit.each === 'member' || limit.each === 'project')
      ? placesOf(keys.filter(({ status }) => status === 'active'))
      : {},
  };
};

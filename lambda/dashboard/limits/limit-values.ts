import * as z from 'zod/mini';
import { auditOf } from '../../data/accounts/audit-log.ts';
import type { Rule } from '../../data/alerts/rules.ts';
import { overrideAction } from '../../data/ledger/limit-values.ts';
import { pageCursor } from '../../data/table/page-cursor.ts';
import { hasFilter, scopeOf } from '../../domain/accounts/scope.ts';
import type { Period } from '../../domain/calendar/periods.ts';
import { invalid, NotFoundError, orUndefined } from '../../domain/errors.ts';
import type { EachLimit } from '../../domain/limits/block.ts';
import { limitPeriodAt, type Override, overrideAt } from '../../domain/limits/each.ts';
import { eachLimitOf } from '../../domain/limits/limit-blocks.ts';
import { type ValueState, valueState } from '../../domain/limits/limit-states.ts';
import { periodId } from '../../domain/limits/reservation.ts';
import { evaluatorOf } from '../../domain/limits/rule.ts';
import { usdToNanoUsd } from '../../domain/money.ts';
import { dimensionOf } from '../../domain/spend/dimensions.ts';
import { csvField } from '../../domain/spend/spend-csv.ts';
import { usdOf } from '../../domain/spend/spend-report.ts';
import type { Caller, CallerInput, Implementations } from '../../http/operation.ts';
import type { Settings } from '../open-settings.ts';
import type * as budgetOperations from './budget-operations.ts';
import type * as operations from './value-operations.ts';

/** Both functions that serve these operations have these dependencies. */
type Opened = Pick<Settings, 'rules' | 'keys' | 'users' | 'projects' | 'limitValues' | 'raises' | 'now'>;

const NONE = '(none)';
export const storedValue = (shown: string): string | null => (shown === NONE ? null : shown);

/** Who sees the whole account sees every value, and who sees a part of it the values in that part, and their own. */
export const isSeen = (caller: Caller, { limit: { each } }: Found, value: string | null | undefined): boolean => {
  const { sees } = scopeOf(caller);
  if (sees.keyIds === undefined || (each === 'member' && value === caller.userId)) return true;
  return value != null && hasFilter(sees, { [dimensionOf(each)]: value });
};
export type MaySee = (...of: Parameters<typeof isSeen>) => boolean | Promise<boolean>;

/**
 * @param value undefined where it is about all values
 * @throws NotFoundError where there is no such budget, it is not for each of a dimension, or the caller does not see it
 */
const findLimit = async (
  dependencies: Opened,
  caller: Caller,
  id: string,
  value?: string | null,
  maySee: MaySee = isSeen,
) => {
  const rule = await orUndefined(dependencies.rules.find(caller.accountId, id));
  const found = rule && limitOfRule(rule, await readBelongings(dependencies, caller.accountId));
  if (!found || !(await maySee(caller, found, value))) throw new NotFoundError('There is no such budget with `each`.');
  return found;
};

const readBelongings = async ({ keys, users }: Opened, accountId: string) => ({
  keys: await keys.list(accountId),
  members: await users.recipients(accountId),
});

/** Undefined where a rule is no budget for each of a dimension. */
const limitOfRule = (
  { ruleId, name, isActive, condition, ...rule }: Rule,
  belongings: Awaited<ReturnType<typeof readBelongings>>,
) => {
  const { limit } = evaluatorOf(condition);
  const each = condition.type === 'budget' && limit && eachLimitOf({ ruleId, name, limit }, belongings, '');
  return each ? { limit: each, isActive, rule, ...belongings } : undefined;
};
type Found = NonNullable<ReturnType<typeof limitOfRule>>;

/** Names of the members, keys or projects that a limit holds for each of, by their ids. */
const labelsOf = async (
  { projects }: Opened,
  accountId: string,
  { limit: { each }, keys, members }: Found,
): Promise<ReadonlyMap<string, string>> => {
  if (each === 'key') return new Map(keys.map(({ keyId, name }) => [keyId, name]));
  if (each === 'member') return new Map(members.map(({ userId, email }) => [userId, email]));
  if (each !== 'project') return new Map();
  return new Map((await projects.list(accountId)).map(({ projectId, name }) => [projectId, name]));
};

type Listed = ValueState & { readonly label: string | null };

const shareUsed = ({ nanoUsd, usedNanoUsd }: ValueState): number =>
  nanoUsd === null ? -1 : usedNanoUsd / Math.max(1, nanoUsd);

const byUse = (a: Listed, b: Listed): number =>
  shareUsed(b) - shareUsed(a) || b.usedNanoUsd - a.usedNanoUsd || byValue(a, b);
const byValue = (a: Listed, b: Listed): number =>
  (a.label ?? a.value ?? '').localeCompare(b.label ?? b.value ?? '') || (a.value ?? '').localeCompare(b.value ?? '');

/** Whether requests from before a limit was made are counted: no job does that any more. */
const isDone = (job: Awaited<ReturnType<Opened['limitValues']['uncounted']['find']>>): boolean =>
  !job || job.finishedAt !== undefined;

interface Wanted {
  readonly search?: string | undefined;
  readonly sort: 'used' | 'value';
  /** Absent for the first page. */
  readonly cursor?: string | undefined;
}

/** All values: those that were counted, those with an override, and every member, key or project that may still send its first request. */
const readValues = async (dependencies: Opened, caller: Caller, id: string, { search, sort, cursor }: Wanted) => {
  const { accountId } = caller;
  const { limitValues, now } = dependencies;
  const found = await findLimit(dependencies, caller, id);
  const { limit } = found;
  const at = now();
  const period = limitPeriodAt(limit.period, at);
  const [counted, overrides, labels, job] = await Promise.all([
    period ? limitValues.list([accountId, id, periodId(period)], cursor !== undefined) : [],
    limitValues.listOverrides(accountId, id),
    labelsOf(dependencies, accountId, found),
    limitValues.uncounted.find(accountId, id),
  ]);
  const uses = new Map(counted.map((each) => [each.value, each]));
  const revoked = new Set(found.keys.flatMap(({ keyId, status }) => (status === 'revoked' ? keyId : [])));
  const unused = [...labels.keys()].filter((value) => !revoked.has(value));
  const values = new Set([...uses.keys(), ...overrides.keys(), ...unused]);
  const groupOf = new Map<string | null, EachLimit['groups']>(
    limit.groups.flatMap((group) => group.values.map((value) => [value, [{ ...group, values: [value] }]])),
  );
  const stateOf = (value: string | null, ofPeriod: Period): ValueState => {
    const use = uses.get(value) ?? { value, usedNanoUsd: 0, unpricedRequests: 0, reservedNanoUsd: 0 };
    // There may be thousands of values. Each has one group at most, for which amountFor looks in all.
    const own = { ...limit, groups: groupOf.get(value) ?? [] };
    return valueState(own, use, overrides.get(value) ?? null, { period: ofPeriod, now: at });
  };
  const states = period ? [...values].map((value) => stateOf(value, period)) : [];
  const text = search?.toLowerCase();
  const listed = states.map((state): Listed => ({ ...state, label: labels.get(state.value ?? '') ?? null }));
  const items = listed
    .filter(({ value, label }) => !text || `${value ?? NONE} ${label ?? ''}`.toLowerCase().includes(text))
    .sort(sort === 'used' ? byUse : byValue);
  const stops = found.isActive && limit.enforcement !== null;
  return { period, states, items, stops, isCounted: isDone(job) };
};

const view = ({ value, label, nanoUsd, source, override, isAtLimit, ...state }: Listed, stops: boolean) => ({
  value: value ?? NONE,
  label,
  limitNanoUsd: nanoUsd,
  limitSource: source,
  overrideUntil: override?.until ?? null,
  ...state,
  isBlocked: stops && isAtLimit,
});

const cursors = pageCursor(z.int());

const COLUMNS =
  'value,name,limit_usd,limit_source,used_usd,reserved_usd,remaining_usd,percent_used,is_blocked,unpriced_requests';
const usd = (nanoUsd: number | null): string | null => (nanoUsd === null ? null : usdOf(nanoUsd));

/** One value as it is now; undefined where its limit has no period now. */
const readState = async (dependencies: Opened, accountId: string, found: Found, value: string | null) => {
  const { limit, isActive } = found;
  const now = dependencies.now();
  const period = limitPeriodAt(limit.period, now);
  if (period === null) return undefined;
  const [counted, override, labels] = await Promise.all([
    dependencies.limitValues.read(accountId, limit.id, periodId(period), value),
    dependencies.limitValues.findOverride(accountId, limit.id, value),
    labelsOf(dependencies, accountId, found),
  ]);
  const state = { ...valueState(limit, counted, override, { period, now }), label: labels.get(value ?? '') ?? null };
  return { ...view(state, isActive && limit.enforcement !== null), period };
};

/** @throws NotFoundError */
export const findValue = async (
  dependencies: Opened,
  caller: Caller,
  id: string,
  value: string | null,
  maySee?: MaySee,
) => {
  const found = await findLimit(dependencies, caller, id, value, maySee);
  const state = await readState(dependencies, caller.accountId, found, value);
  if (state === undefined) throw new NotFoundError('The budget has no period now.');
  return { ...found, state };
};

const textOf = (override: Override | null) =>
  override && {
    amount: override.amountNanoUsd === null ? 'no limit' : `$${usdOf(override.amountNanoUsd)}`,
    until: override.until ?? 'for good',
  };

/**
 * The writes that change the amount of one value, or with null restore the usual one, and their entry in the audit log. Who approves a
 * raise makes such a change, too: it keeps what holds again after it.
 *
 * @param amount in USD
 * @throws NotFoundError
 * @throws ValidationError where it would have ended already, or the account has no such member, key or project
 */
export const planOverride = async (
  dependencies: Opened,
  { caller, clientAddress }: CallerInput,
  { id, value }: { readonly id: string; readonly value: string | null },
  wanted: { readonly amount: number | null; readonly until: string | null; readonly isRaise?: boolean } | null,
) => {
  const { accountId } = caller;
  const found = await findLimit(dependencies, caller, id);
  const { limit } = found;
  const isOfOurIds = limit.each === 'member' || limit.each === 'key' || limit.each === 'project';
  if (wanted && value !== null && isOfOurIds && !(await labelsOf(dependencies, accountId, found)).has(value))
    throw invalid('value', `${value} is not the id of a ${limit.each} of the account`);
  const now = dependencies.now();
  const given = wanted?.until === 'period_end' ? limitPeriodAt(limit.period, now)?.end : wanted?.until;
  const until = given ? new Date(given).toISOString() : null;
  if (until !== null && Date.parse(until) <= now.getTime()) throw invalid('until', 'must be in the future');
  const before = await dependencies.limitValues.findOverride(accountId, id, value);
  const after = wanted?.isRaise && until !== null ? overrideAt(before, new Date(until)) : null;
  const override = wanted && {
    amountNanoUsd: wanted.amount === null ? null : usdToNanoUsd(wanted.amount),
    until,
    ...(after && { after }),
  };
  const fact = {
    action: override ? ('budget.override_set' as const) : ('budget.override_removed' as const),
    subject: id,
    details: { name: limit.name, each: limit.each, value: value ?? NONE, ...textOf(override) },
    before: textOf(before) ?? undefined,
  };
  return {
    until,
    action: overrideAction(accountId, id, value, override, before),
    audit: auditOf({ caller, clientAddress }, fact, now),
  };
};

export const readLimitValues = (opened: Opened): Implementations<typeof operations> => ({
  listLimitValues: async ({ caller, params: { id }, query: { limit, ...wanted } }) => {
    const { accountId } = caller;
    const { period, states, items, stops, isCounted } = await readValues(opened, caller, id, wanted);
    const from = wanted.cursor === undefined ? 0 : cursors.read(accountId, wanted.cursor);
    const to = from + limit;
    return {
      items: items.slice(from, to).map((each) => view(each, stops)),
      nextCursor: to < items.length ? cursors.write(accountId, to) : null,
      period,
      values: states.length,
      blockedValues: stops ? states.filter(({ isAtLimit }) => isAtLimit).length : 0,
      usedNanoUsd: states.reduce((sum, { usedNanoUsd }) => sum + usedNanoUsd, 0),
      isCounted,
    };
  },

  exportLimitValues: async ({ caller, params: { id }, query }) => {
    const { items, stops } = await readValues(opened, caller, id, query);
    return (async function* () {
      yield `${COLUMNS}\r\n`;
      for (const each of items) {
        const { value, label, ...of } = view(each, stops);
        const amounts = [usd(of.usedNanoUsd), usd(of.reservedNanoUsd), usd(of.remainingNanoUsd), of.percentUsed];
        // Our own numbers need no guard against formulas, which would turn negative ones into text.
        const ours = [usd(of.limitNanoUsd), of.limitSource, ...amounts, of.isBlocked, of.unpricedRequests];
        yield `${[csvField(value), csvField(label), ...ours].join(',')}\r\n`;
      }
    })();
  },

  readLimitValue: async ({ caller, params: { id, value } }) =>
    (await findValue(opened, caller, id, storedValue(value))).state,

  /** The values of limits that are the caller's own. A project is not: others spend in it. */
  listOwnLimits: async ({ caller: { accountId, userId } }) => {
    const belongings = await readBelongings(opened, accountId);
    const own = belongings.keys.filter((key) => key.status === 'active' && key.ownerUserId === userId);
    const valuesOf = { member: [userId], key: own.map(({ keyId }) => keyId) };
    const raises = await opened.raises.list(accountId, opened.now());
    const found = (await opened.rules.list(accountId)).flatMap((rule) => limitOfRule(rule, belongings) ?? []);
    const items = found.map(async (limit) => {
      const { id: budgetId, name: budgetName, each } = limit.limit;
      if (!limit.isActive || (each !== 'member' && each !== 'key')) return [];
      const [job, ...states] = await Promise.all([
        opened.limitValues.uncounted.find(accountId, budgetId),
        ...valuesOf[each].map((value) => readState(opened, accountId, limit, value)),
      ]);
      const isCounted = isDone(job);
      const raiseOf = (value: string) =>
        raises.find((raise) => raise.budgetId === budgetId && raise.value === value) ?? null;
      return states.flatMap((state) =>
        state ? [{ ...state, budgetId, budgetName, each, isCounted, raise: raiseOf(state.value) }] : [],
      );
    });
    return { items: (await Promise.all(items)).flat() };
  },
});

export const changeOverrides = (
  opened: Opened,
): Implementations<typeof budgetOperations, 'setLimitOverride' | 'removeLimitOverride'> => ({
  setLimitOverride: async ({ params: { id, value }, body, ...from }) => {
    const { until, action, audit } = await planOverride(opened, from, { id, value: storedValue(value) }, body);
    await opened.limitValues.setOverride(action, audit);
    return { amount: body.amount, until };
  },

  removeLimitOverride: async ({ params: { id, value }, ...from }) => {
    const { action, audit } = await planOverride(opened, from, { id, value: storedValue(value) }, null);
    await opened.limitValues.setOverride(action, audit);
  },
});

import * as z from 'zod/mini';
import { ConflictError } from '../../domain/errors.ts';
import { type Override, placesOf } from '../../domain/limits/each.ts';
import { isOldReservation } from '../../domain/limits/reservation.ts';
import { evaluatorOf, ruleConditionSchema } from '../../domain/limits/rule.ts';
import type { CountedLimit, CountedLimits } from '../../domain/limits/value-counts.ts';
import { needsKeys } from '../../domain/spend/key-dimensions.ts';
import { type AuditEntry, putAudit } from '../accounts/audit-log.ts';
import { openServiceKeys } from '../accounts/service-keys.ts';
import { IS_NEW, put, remove, update } from '../table/actions.ts';
import {
  limitValueKey,
  limitValuesPrefix,
  overrideKey,
  overridesPrefix,
  parseValueSk,
  ruleKey,
  uncountedKey,
} from '../table/keys.ts';
import { findAs, findItem, itemsUnder, listItems } from '../table/read.ts';
import { recentlyRead } from '../table/recently-read.ts';
import type { Table } from '../table/table.ts';
import { transact, write } from '../table/write.ts';
import { type BudgetItem, parseBudgetItem } from './reservations.ts';

const MAX_ENTRIES = 1_000;
const MAX_LISTS = 4;

const storedRule = z.object({ ruleId: z.string(), type: z.literal('budget'), config: z.unknown() });

/** The limit that a stored rule counts values for; undefined where it counts none, or this version cannot read it. */
const countedLimitOf = (item: Record<string, unknown>): CountedLimit | undefined => {
  const { data } = storedRule.safeParse(item);
  const condition = data && ruleConditionSchema.safeParse({ type: data.type, config: data.config }).data;
  if (!data || !condition) return undefined;
  const { limit, filter } = evaluatorOf(condition);
  if (limit?.each === undefined) return undefined;
  const { each, period, unknownCost } = limit;
  const unknownNanoUsd = typeof unknownCost === 'number' ? unknownCost : 0;
  return { budgetId: data.ruleId, each, filter, period, unknownNanoUsd };
};

const usesKeys = ({ each, filter }: CountedLimit): boolean => ['member', 'project'].includes(each) || needsKeys(filter);

const overrideMembers = {
  amountNanoUsd: z.nullable(z.number()),
  until: z._default(z.nullable(z.string()), null),
};
const storedOverride = z.object({ ...overrideMembers, after: z.optional(z.object(overrideMembers)) });

/** One value of a limit in a period. */
type LimitValue = ReturnType<typeof valueOfItem>;

const valueOfItem = (value: string | null, item: BudgetItem, nowMs: number) => ({
  value,
  usedNanoUsd: item.finishedNanoUsd,
  unpricedRequests: item.unpricedRequests,
  reservedNanoUsd: [...item.reserved]
    .filter(([member]) => !isOldReservation(member, nowMs))
    .reduce((sum, [, nanoUsd]) => sum + nanoUsd, 0),
  /** Excess of requests over what they had reserved, as far as it is known or possible. */
  beyondNanoUsd: item.excessNanoUsd + item.uncertainNanoUsd,
});

const storedJob = z.object({
  createdAt: z.string(),
  startsAt: z.string(),
  /** Requests from this instant on are done; null at the beginning. */
  doneFrom: z._default(z.nullable(z.string()), null),
  finishedAt: z.optional(z.string()),
});

/** The counting of requests that were recorded before a limit of each was known. */
export type UncountedJob = z.infer<typeof storedJob> & { readonly budgetId: string };

/** @param override null removes it. @param before as it was read: refused where it is not this one any more */
export const overrideAction = (
  accountId: string,
  budgetId: string,
  value: string | null,
  override: Override | null,
  before: Override | null,
) => {
  const key = overrideKey(accountId, budgetId, value);
  const isSame = before ? `amountNanoUsd = :was${before.until === null ? '' : ' AND #until = :wasUntil'}` : IS_NEW;
  const values = before ? { was: before.amountNanoUsd, wasUntil: before.until ?? undefined } : {};
  return override ? put({ ...key, ...override }, isSame, values) : remove(key, isSame, values);
};

/** The counts of limits with `each`, value by value, and the amounts that people decided for values. */
export const openLimitValues = (table: Table, now: () => number = Date.now) => {
  const keys = openServiceKeys(table);
  const limitsOf = async (accountId: string): Promise<CountedLimits> => {
    const limits: CountedLimit[] = [];
    for await (const item of itemsUnder(table, ruleKey(accountId, ''))) {
      const limit = countedLimitOf(item);
      if (limit) limits.push(limit);
    }
    return { limits, keys: limits.some(usesKeys) ? placesOf(await keys.list(accountId)) : {} };
  };

  const readLately = recentlyRead(limitsOf, MAX_ENTRIES, now);
  const list = async (accountId: string, budgetId: string, periodId: string): Promise<LimitValue[]> =>
    listItems(
      table,
      { pk: limitValueKey(accountId, budgetId, periodId, null).pk, sk: limitValuesPrefix(budgetId, periodId) },
      (item) => valueOfItem(parseValueSk(String(item['sk'])), parseBudgetItem(item), now()),
    );
  const listLately = recentlyRead(async (id) => list(...(JSON.parse(id) as Parameters<typeof list>)), MAX_LISTS, now);

  return {
    limitsOf,

    /** The same, cached for a minute. @param keyIds keys that were made since are read again */
    findLimits: (accountId: string, keyIds: ReadonlySet<string>): Promise<CountedLimits> =>
      readLately(
        accountId,
        ({ limits, keys: known }) =>
          !limits.some(usesKeys) || [...keyIds].every((keyId) => Object.hasOwn(known, keyId)),
      ),

    read: async (accountId: string, budgetId: string, periodId: string, value: string | null): Promise<LimitValue> =>
      valueOfItem(
        value,
        parseBudgetItem(await findItem(table, limitValueKey(accountId, budgetId, periodId, value))),
        now(),
      ),

    /**
     * Every value that has been counted in a period: reading them costs by all. @param lately what was read within a minute will do
     */
    list: (period: Parameters<typeof list>, lately: boolean): Promise<LimitValue[]> =>
      listLately(JSON.stringify(period), () => lately),

    findOverride: async (accountId: string, budgetId: string, value: string | null): Promise<Override | null> =>
      (await findAs(table, overrideKey(accountId, budgetId, value), storedOverride)) ?? null,

    listOverrides: async (accountId: string, budgetId: string): Promise<ReadonlyMap<string | null, Override>> =>
      new Map(
        await listItems(
          table,
          { pk: overrideKey(accountId, budgetId, null).pk, sk: overridesPrefix(budgetId) },
          (item): [string | null, Override] => [parseValueSk(String(item['sk'])), storedOverride.parse(item)],
        ),
      ),

    /** @param action `overrideAction`. @throws ConflictError */
    setOverride: (action: ReturnType<typeof overrideAction>, audit: AuditEntry): Promise<void> =>
      transact(
        table,
        [action, putAudit(audit)],
        () => new ConflictError('Another request changed the amount of this value. Read it again.'),
      ),

    uncounted: {
      /** Undefined of a limit from before there were values. */
      find: async (accountId: string, budgetId: string): Promise<UncountedJob | undefined> => {
        const item = await findItem(table, uncountedKey(accountId, budgetId));
        return item && { budgetId, ...storedJob.parse(item) };
      },

      list: (accountId: string): Promise<UncountedJob[]> => {
        const under = uncountedKey(accountId, '');
        return listItems(table, under, (item) => ({
          budgetId: String(item['sk']).slice(under.sk.length),
          ...storedJob.parse(item),
        }));
      },

      keep: (accountId: string, { budgetId, doneFrom, finishedAt }: UncountedJob): Promise<void> =>
        write(
          table,
          update(
            uncountedKey(accountId, budgetId),
            `SET doneFrom = :doneFrom${finishedAt === undefined ? '' : ', finishedAt = :finishedAt'}`,
            null,
            { doneFrom, finishedAt },
          ),
        ),
    },
  };
};

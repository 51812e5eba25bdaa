import * as z from 'zod/mini';
import { MINUTE_MS } from '../../domain/calendar/units.ts';
import { ConflictError, LimitReachedError, NotFoundError } from '../../domain/errors.ts';
import { evaluatorOf, notifyingMembers, type RuleCondition, ruleConditionSchema } from '../../domain/limits/rule.ts';
import type { RuleFilter } from '../../domain/limits/spend-series.ts';
import { type AuditEntry, putAudit } from '../accounts/audit-log.ts';
import { EXISTS, IS_NEW, put, remove, update } from '../table/actions.ts';
import {
  ACTIVE_RULE_SHARDS,
  accountKey,
  activeRulesIndexKey,
  activeRulesIndexPartition,
  HIGHEST_ID,
  pricedAccountKey,
  ruleKey,
  uncountedKey,
} from '../table/keys.ts';
import { findItem, listItems, listReadable, queryItems, readItem } from '../table/read.ts';
import { shardOf, type Table } from '../table/table.ts';
import { transact } from '../table/write.ts';

const factsSchema = z.object({
  ruleId: z.string(),
  accountId: z.string(),
  name: z.string(),
  ...notifyingMembers,
  isActive: z.boolean(),
  /** ISO 8601 UTC. */
  createdAt: z.string(),
  updatedAt: z.string(),
  /** Since when the rule holds in its current form. It does not judge periods that ended before. */
  effectiveFrom: z.string(),
  /** Increases with each change, from 1. */
  revision: z.int().check(z.positive()),
  /** The revision in which its condition last changed; 1 where version 0.1 wrote the rule. With a new one it fires again in a period. */
  conditionRevision: z._default(z.int().check(z.positive()), 1),
  /** The periods for which it fired lately: see alertName. It saves attempts. The guard item is what prevents a second alert. */
  firedPeriods: z.array(z.string()),
});

export type Rule<Condition extends RuleCondition = RuleCondition> = z.infer<typeof factsSchema> & {
  readonly condition: Condition;
};

/** Members that a later version added stay. */
const parseRule = ({ type, config, gsi1pk: _, gsi1sk: _sk, ...facts }: Record<string, unknown>): Rule => ({
  ...facts,
  ...factsSchema.parse(facts),
  condition: ruleConditionSchema.parse({ type, config }),
});

/** A rule that this version cannot read: a later version wrote it. */
export interface UnreadableRule extends Pick<Rule, 'accountId' | 'ruleId'> {
  readonly error: unknown;
}

const tryRule = (item: Record<string, unknown>): Rule | UnreadableRule => {
  try {
    return parseRule(item);
  } catch (error) {
    return { accountId: String(item['accountId']), ruleId: String(item['ruleId']), error };
  }
};

/** Only active rules have a key in the index that the evaluator reads. */
const ruleItem = ({ condition, ...facts }: Rule) => ({
  ...facts,
  ...ruleKey(facts.accountId, facts.ruleId),
  type: condition.type,
  config: condition.config,
  ...(facts.isActive &&
    activeRulesIndexKey(shardOf(facts.accountId, ACTIVE_RULE_SHARDS), facts.accountId, facts.ruleId)),
});

/** Limits the evaluator's work for one account in each minute. */
export const MAX_RULES = 50;

/**
 * Recorders know of an account's first limit of each after a minute, read its limits again after another, and run for one: what is recorded
 * until then is counted with what was recorded before.
 */
const LIMITS_KNOWN_MS = 3 * MINUTE_MS;

export const isOfEach = ({ condition: { type, config } }: Rule): boolean =>
  type === 'budget' && config.each !== undefined;

/** Has the requests of before recorders knew a limit of each counted. @param createdAt when the table got the limit (ISO 8601) */
export const countEarlier = (accountId: string, limitId: string, createdAt: string) => {
  const startsAt = new Date(Date.parse(createdAt) + LIMITS_KNOWN_MS).toISOString();
  return [put({ ...uncountedKey(accountId, limitId), createdAt, startsAt }), put(pricedAccountKey(accountId))];
};

/** Counts a new rule, and has the values of a limit of each counted. The account's number of rules has its limit as the condition. */
const addOne = (rule: Rule) => {
  const { accountId, ruleId, createdAt } = rule;
  const countsValues = isOfEach(rule) || undefined;
  return [
    update(
      accountKey(accountId),
      `ADD ruleCount :one${countsValues ? ' SET countsValues = :countsValues' : ''}`,
      `${EXISTS} AND (attribute_not_exists(ruleCount) OR ruleCount < :max)`,
      { one: 1, max: MAX_RULES, countsValues },
    ),
    ...(countsValues ? countEarlier(accountId, ruleId, createdAt) : []),
  ];
};

const removeOne = (accountId: string) =>
  update(accountKey(accountId), 'ADD ruleCount :change', 'ruleCount > :min', { change: -1, min: 0 });

const recordIn = (audit: AuditEntry | undefined) => (audit ? [putAudit(audit)] : []);

const listAll = (table: Table, accountId: string) => listReadable(table, ruleKey(accountId, ''), parseRule);

export const openRules = (table: Table) => ({
  /** The account's rules, oldest first, and those that cannot be read. */
  listAll: (accountId: string) => listAll(table, accountId),

  /** Those that can be read. */
  list: async (accountId: string): Promise<Rule[]> => (await listAll(table, accountId)).items,

  /**
   * Before something is removed that rules may filter by: an active rule would never fire again, and nothing would say so.
   *
   * @param removedFrom what a filter would lose, in words
   * @throws ConflictError where an active rule filters by it, or cannot be read
   */
  requireNoFilter: async (
    accountId: string,
    removedFrom: (filter: RuleFilter) => string | undefined,
  ): Promise<void> => {
    const { items, unreadable } = await listAll(table, accountId);
    if (unreadable.some(({ isActive }) => isActive))
      throw new ConflictError('A later version of the service wrote an alert rule or budget that cannot be read now.');
    for (const { name, isActive, condition } of items) {
      const removed = isActive ? removedFrom(evaluatorOf(condition).filter ?? {}) : undefined;
      const kind = condition.type === 'budget' ? 'budget' : 'alert rule';
      if (removed !== undefined)
        throw new ConflictError(`The ${kind} "${name}" filters by ${removed}: change it, or switch it off, first.`);
    }
  },

  /** The active ones. What cannot be read does not keep the others from being judged. */
  active: async (accountId: string): Promise<(Rule | UnreadableRule)[]> =>
    (await listItems(table, ruleKey(accountId, ''), (item) => (item['isActive'] ? [tryRule(item)] : []))).flat(),

  /** @throws NotFoundError */
  find: async (accountId: string, ruleId: string): Promise<Rule> => {
    const item = await findItem(table, ruleKey(accountId, ruleId));
    if (item === undefined) throw new NotFoundError('There is no such alert rule or budget.');
    return readItem(() => parseRule(item));
  },

  /** @throws LimitReachedError */
  create: (rule: Rule, audit?: AuditEntry): Promise<void> =>
    transact(
      table,
      [put(ruleItem(rule), IS_NEW), ...addOne(rule), ...recordIn(audit)],
      () => new LimitReachedError(`An account may have ${MAX_RULES} alert rules and budgets. Delete one first.`),
    ),

  /**
   * Replaces a revision of a rule.
   *
   * @throws ConflictError where the rule has another revision by now, or is deleted
   */
  replace: (rule: Rule, previous: number, audit?: AuditEntry): Promise<void> =>
    transact(
      table,
      [put(ruleItem(rule), 'revision = :previous', { previous }), ...recordIn(audit)],
      () => new ConflictError('It was changed or deleted in the meantime. Read it again.'),
    ),

  /** @throws NotFoundError */
  remove: (accountId: string, ruleId: string, audit?: AuditEntry): Promise<void> =>
    transact(
      table,
      [remove(ruleKey(accountId, ruleId), EXISTS), removeOne(accountId), ...recordIn(audit)],
      () => new NotFoundError('There is no such alert rule or budget.'),
    ),

  /**
   * Active rules of a shard, those of one account next to each other: all, or those after an account. Eventually consistent: a change
   * shows after about a second.
   */
  async *activeInShard(shard: number, after = ''): AsyncGenerator<Rule | UnreadableRule> {
    for await (const item of queryItems(table, {
      IndexName: 'gsi1',
      KeyConditionExpression: 'gsi1pk = :shard AND gsi1sk > :after',
      ExpressionAttributeValues: {
        ':shard': activeRulesIndexPartition(shard),
        ':after': activeRulesIndexKey(shard, after, HIGHEST_ID).gsi1sk,
      },
    })) {
      yield tryRule(item);
    }
  },
});

export type Rules = ReturnType<typeof openRules>;

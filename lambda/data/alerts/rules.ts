import { GetCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod/mini';
import { channelNames, type RuleCondition, ruleConditionSchema, targetNames } from '../../domain/alert-rules/rule.ts';
import { ConflictError, LimitReachedError, NotFoundError } from '../../domain/errors.ts';
import { type AuditEntry, putAudit } from '../accounts/audit-log.ts';
import {
  ACTIVE_RULE_SHARDS,
  accountKey,
  activeRulesIndexKey,
  activeRulesIndexPartition,
  ruleKey,
} from '../table/keys.ts';
import { queryItems } from '../table/query-items.ts';
import { shardOf } from '../table/shard-of.ts';
import type { Table } from '../table/table.ts';
import { ConditionsFailedError, type TransactionItems, transact } from '../table/transact.ts';

const factsSchema = z.object({
  ruleId: z.string(),
  accountId: z.string(),
  name: z.string(),
  channels: z.array(z.enum(channelNames)),
  isActive: z.boolean(),
  /** URL and signing secret of the channel `webhook`. */
  webhook: z.nullable(z.object({ url: z.string(), secret: z.string() })),
  /** URLs and keys of the other channels: secrets. Absent where there are none. */
  targets: z.optional(z.partialRecord(z.enum(targetNames), z.string())),
  /** ISO 8601 UTC. */
  createdAt: z.string(),
  updatedAt: z.string(),
  /** Since when the rule holds in its current form. It does not judge periods that ended before. */
  effectiveFrom: z.string(),
  /** Increases with each change, from 1. */
  revision: z.int().check(z.positive()),
  /** The revision in which its condition last changed; 1 where version 0.1 wrote the rule. With a new one it fires again in a period. */
  conditionRevision: z._default(z.int().check(z.positive()), 1),
  /** What it fired for lately: see firingName. It saves attempts. The guard item is what prevents a second alert. */
  firedPeriods: z.array(z.string()),
});

export type Rule<Condition extends RuleCondition = RuleCondition> = z.infer<typeof factsSchema> & {
  readonly condition: Condition;
};

const parseRule = (item: Record<string, unknown>): Rule => ({
  ...factsSchema.parse(item),
  condition: ruleConditionSchema.parse({ type: item['type'], config: item['config'] }),
});

/** Only active rules have a key in the index that the evaluator reads. */
const ruleItem = ({ condition, ...facts }: Rule) => ({
  ...ruleKey(facts.accountId, facts.ruleId),
  ...facts,
  type: condition.type,
  config: condition.config,
  ...(facts.isActive &&
    activeRulesIndexKey(shardOf(facts.accountId, ACTIVE_RULE_SHARDS), facts.accountId, facts.ruleId)),
});

/** Above every rule id. */
const HIGHEST = '~';

/** Limits the evaluator's work for one account in each minute. */
export const MAX_RULES = 50;

export const openRules = (table: Table) => {
  const { client, name } = table;

  /** Changes the account's number of rules, which has the limit as its condition. */
  const changeCount = (accountId: string, change: 1 | -1) => ({
    Update: {
      TableName: name,
      Key: accountKey(accountId),
      UpdateExpression: 'ADD ruleCount :change',
      ConditionExpression:
        change === 1
          ? 'attribute_exists(pk) AND (attribute_not_exists(ruleCount) OR ruleCount < :max)'
          : 'ruleCount > :min',
      ExpressionAttributeValues: { ':change': change, ...(change === 1 ? { ':max': MAX_RULES } : { ':min': 0 }) },
    },
  });

  const recordIn = (audit: AuditEntry | undefined): TransactionItems => (audit ? [putAudit(name, audit)] : []);

  return {
    /** The account's rules, oldest first. */
    list: async (accountId: string): Promise<Rule[]> => {
      const rules: Rule[] = [];
      for await (const item of queryItems(table, {
        KeyConditionExpression: 'pk = :pk AND begins_with(sk, :rules)',
        ExpressionAttributeValues: { ':pk': accountKey(accountId).pk, ':rules': ruleKey(accountId, '').sk },
        ConsistentRead: true,
      })) {
        rules.push(parseRule(item));
      }
      return rules;
    },

    /** @throws NotFoundError */
    find: async (accountId: string, ruleId: string): Promise<Rule> => {
      const { Item } = await client.send(
        new GetCommand({ TableName: name, Key: ruleKey(accountId, ruleId), ConsistentRead: true }),
      );
      if (Item === undefined) throw new NotFoundError('There is no such alert rule.');
      return parseRule(Item);
    },

    /** @throws LimitReachedError */
    create: async (rule: Rule, audit?: AuditEntry): Promise<void> => {
      try {
        await transact(table, [
          { Put: { TableName: name, Item: ruleItem(rule), ConditionExpression: 'attribute_not_exists(pk)' } },
          changeCount(rule.accountId, 1),
          ...recordIn(audit),
        ]);
      } catch (error) {
        if (!(error instanceof ConditionsFailedError)) throw error;
        throw new LimitReachedError(`An account may have ${MAX_RULES} alert rules. Delete one first.`);
      }
    },

    /**
     * Replaces a revision of a rule.
     *
     * @throws ConflictError where the rule has another revision by now, or is deleted
     */
    replace: async (rule: Rule, previousRevision: number, audit?: AuditEntry): Promise<void> => {
      try {
        await transact(table, [
          {
            Put: {
              TableName: name,
              Item: ruleItem(rule),
              ConditionExpression: 'revision = :previous',
              ExpressionAttributeValues: { ':previous': previousRevision },
            },
          },
          ...recordIn(audit),
        ]);
      } catch (error) {
        if (!(error instanceof ConditionsFailedError)) throw error;
        throw new ConflictError('The alert rule was changed or deleted in the meantime. Read it again.');
      }
    },

    /** @throws NotFoundError */
    remove: async (accountId: string, ruleId: string, audit?: AuditEntry): Promise<void> => {
      try {
        await transact(table, [
          {
            Delete: {
              TableName: name,
              Key: ruleKey(accountId, ruleId),
              ConditionExpression: 'attribute_exists(pk)',
            },
          },
          changeCount(accountId, -1),
          ...recordIn(audit),
        ]);
      } catch (error) {
        if (!(error instanceof ConditionsFailedError)) throw error;
        throw new NotFoundError('There is no such alert rule.');
      }
    },

    /**
     * Active rules of a shard, those of one account next to each other: all, or those after an account. Eventually consistent: a change
     * shows after about a second.
     */
    async *activeInShard(shard: number, after = ''): AsyncGenerator<Rule> {
      for await (const item of queryItems(table, {
        IndexName: 'gsi1',
        KeyConditionExpression: 'gsi1pk = :shard AND gsi1sk > :after',
        ExpressionAttributeValues: {
          ':shard': activeRulesIndexPartition(shard),
          ':after': activeRulesIndexKey(shard, after, HIGHEST).gsi1sk,
        },
      })) {
        yield parseRule(item);
      }
    },
  };
};

export type Rules = ReturnType<typeof openRules>;

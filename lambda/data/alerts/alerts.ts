import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { GetCommand, QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { type Alert, alertSchema } from '../../domain/alert-rules/alert.ts';
import { DAY_SECONDS } from '../../domain/calendar/units.ts';
import { NotFoundError } from '../../domain/errors.ts';
import { accountKey, alertKey, firedKey, ruleKey } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import { ConditionsFailedError, transact } from '../table/transact.ts';
import { alertCursor } from './alert-cursor.ts';
import { undeliveredKey } from './alert-deliveries.ts';
import type { Rule } from './rules.ts';

export interface AlertPage {
  readonly items: Alert[];
  /** Null where there is nothing more. A page may be short, even empty, and yet have a next. */
  readonly nextCursor: string | null;
}

/** A page examines no more than this, so that a filter that hardly anything passes cannot make it slow. */
const MAX_EXAMINED = 1_000;
/** Periods a rule remembers having fired for: more than are ever judged at once. */
const FIRED_PERIODS = 8;
/** The guard outlives every judgement of its period. */
const GUARD_DAYS = 60;

/** Above every alert id. */
const HIGHEST = '~';

const epochSeconds = (iso: string): number => Math.floor(Date.parse(iso) / 1_000);

export const openAlerts = (table: Table) => {
  const { client, name } = table;

  const guarded = (alert: Alert, guardName: string) => [
    {
      Put: {
        TableName: name,
        Item: {
          ...firedKey(alert.accountId, guardName, alert.period.start),
          alertId: alert.alertId,
          expiresAt: epochSeconds(alert.period.end) + GUARD_DAYS * DAY_SECONDS,
        },
        ConditionExpression: 'attribute_not_exists(pk)',
      },
    },
    {
      Put: {
        TableName: name,
        Item: {
          ...alertKey(alert.accountId, alert.alertId),
          ...alert,
          ...(alert.deliveries.length > 0 && undeliveredKey(alert, alert.triggeredAt)),
          deliveryRound: 0,
        },
        ConditionExpression: 'attribute_not_exists(pk)',
      },
    },
  ];

  const written = async (work: Promise<void>): Promise<boolean> => {
    try {
      await work;
      return true;
    } catch (error) {
      if (error instanceof ConditionsFailedError) return false;
      throw error;
    }
  };

  return {
    /**
     * Fires a rule for a period: once, whatever runs side by side. False where it has fired already, or was changed, switched
     * off or deleted since it was read.
     */
    fire: (alert: Alert, rule: Rule): Promise<boolean> =>
      written(
        transact(table, [
          ...guarded(alert, rule.ruleId),
          {
            Update: {
              TableName: name,
              Key: ruleKey(rule.accountId, rule.ruleId),
              UpdateExpression: 'SET firedPeriods = :fired',
              ConditionExpression: 'revision = :revision',
              ExpressionAttributeValues: {
                ':fired': [alert.period.start, ...rule.firedPeriods].slice(0, FIRED_PERIODS),
                ':revision': rule.revision,
              },
            },
          },
        ]),
      ),

    /** An alert that is no rule's: once for its name and period. */
    notify: (alert: Alert, guardName: string): Promise<boolean> => written(transact(table, guarded(alert, guardName))),

    /** Newest first. @throws NotFoundError for a cursor that is none of this account's */
    page: async (
      accountId: string,
      query: { status?: Alert['status'] | undefined; limit: number; cursor?: string | undefined },
    ): Promise<AlertPage> => {
      const items: Alert[] = [];
      let below = query.cursor === undefined ? HIGHEST : alertCursor.read(accountId, query.cursor);
      for (let examined = 0; examined < MAX_EXAMINED; ) {
        const { Items = [], LastEvaluatedKey } = await client.send(
          new QueryCommand({
            TableName: name,
            KeyConditionExpression: 'pk = :pk AND sk BETWEEN :lowest AND :below',
            ExpressionAttributeValues: {
              ':pk': accountKey(accountId).pk,
              ':lowest': alertKey(accountId, '').sk,
              ':below': alertKey(accountId, below).sk,
            },
            ScanIndexForward: false,
            // BETWEEN includes its end, which is the last alert of the page before; and one more tells whether there is more.
            Limit: query.limit + 2,
            ConsistentRead: true,
          }),
        );
        for (const alert of Items.map((item) => alertSchema.parse(item))) {
          if (alert.alertId === below) continue;
          if (query.status === undefined || alert.status === query.status) {
            if (items.length === query.limit) return { items, nextCursor: alertCursor.write(accountId, below) };
            items.push(alert);
          }
          below = alert.alertId;
        }
        if (LastEvaluatedKey === undefined) return { items, nextCursor: null };
        examined += Items.length;
      }
      return { items, nextCursor: alertCursor.write(accountId, below) };
    },

    /** Acknowledges an alert; one that is acknowledged already stays as it is. @throws NotFoundError */
    acknowledge: async (accountId: string, alertId: string, by: { userId: string; at: string }): Promise<Alert> => {
      const Key = alertKey(accountId, alertId);
      try {
        const { Attributes } = await client.send(
          new UpdateCommand({
            TableName: name,
            Key,
            UpdateExpression: 'SET #status = :acknowledged, acknowledgedAt = :at, acknowledgedBy = :by',
            ConditionExpression: '#status = :triggered',
            ExpressionAttributeNames: { '#status': 'status' },
            ExpressionAttributeValues: {
              ':acknowledged': 'acknowledged',
              ':triggered': 'triggered',
              ':at': by.at,
              ':by': by.userId,
            },
            ReturnValues: 'ALL_NEW',
          }),
        );
        return alertSchema.parse(Attributes);
      } catch (error) {
        if (!(error instanceof ConditionalCheckFailedException)) throw error;
        const { Item } = await client.send(new GetCommand({ TableName: name, Key, ConsistentRead: true }));
        if (Item === undefined) throw new NotFoundError('There is no such alert.');
        return alertSchema.parse(Item);
      }
    },
  };
};

export type Alerts = ReturnType<typeof openAlerts>;

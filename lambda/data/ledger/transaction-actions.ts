import type { TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import { DAY_SECONDS } from '../../domain/calendar/units.ts';
import { storedCounterName } from '../../domain/spend/former-names.ts';
import type { RequestItem } from '../requests/request-item.ts';
import { countedResponseKey } from '../table/keys.ts';
import { markForRollup } from './rollup-marks.ts';
import type { Change, CounterDelta, LedgerTransaction } from './transactions.ts';

type Actions = NonNullable<TransactWriteCommandInput['TransactItems']>;

/** OpenAI keeps responses for 30 days; after that none can be fetched again. */
const COUNTED_RESPONSE_DAYS = 60;

const recordActions = (table: string, { before, after, countsResponse }: Change, item: RequestItem): Actions => {
  const put = {
    Put: {
      TableName: table,
      Item: { ...item },
      ...(before
        ? { ConditionExpression: 'revision = :before', ExpressionAttributeValues: { ':before': before.revision } }
        : { ConditionExpression: 'attribute_not_exists(pk)' }),
    },
  };
  if (countsResponse === undefined) return [put];
  const guard = {
    Put: {
      TableName: table,
      Item: {
        ...countedResponseKey(after.accountId, after.provider, countsResponse),
        requestId: after.requestId,
        expiresAt: Math.floor(Date.parse(after.startedAt) / 1_000) + COUNTED_RESPONSE_DAYS * DAY_SECONDS,
      },
      ConditionExpression: 'attribute_not_exists(pk)',
    },
  };
  return [put, guard];
};

const addToCounter = (table: string, { key, counters, expiresAt }: CounterDelta) => {
  const entries = Object.entries(counters);
  const add = `ADD ${entries.map((_, i) => `#c${i} :c${i}`).join(', ')}`;
  return {
    Update: {
      TableName: table,
      Key: { ...key },
      UpdateExpression: expiresAt === undefined ? add : `${add} SET expiresAt = :expiresAt`,
      ExpressionAttributeNames: Object.fromEntries(entries.map(([name], i) => [`#c${i}`, storedCounterName(name)])),
      ExpressionAttributeValues: {
        ...Object.fromEntries(entries.map(([, value], i) => [`:c${i}`, value])),
        ...(expiresAt !== undefined && { ':expiresAt': expiresAt }),
      },
    },
  };
};

/** The actions of a transaction, and which change each of the first ones belongs to. */
export const toActions = (
  table: string,
  { changes, items, cells, months, lateDays }: LedgerTransaction,
  now: number,
): { actions: Actions; owners: readonly Change[] } => {
  const owned = changes.flatMap((change, index) =>
    recordActions(table, change, items[index] as RequestItem).map((action) => ({ change, action })),
  );
  return {
    owners: owned.map(({ change }) => change),
    actions: [
      ...owned.map(({ action }) => action),
      ...cells.map((cell) => addToCounter(table, cell)),
      ...months.map(({ key, requests }) => ({
        Update: {
          TableName: table,
          Key: { ...key },
          UpdateExpression: 'ADD trackedRequests :requests',
          ExpressionAttributeValues: { ':requests': requests },
        },
      })),
      ...lateDays.map(({ accountId, day }) => markForRollup(table, accountId, day, now)),
    ],
  };
};

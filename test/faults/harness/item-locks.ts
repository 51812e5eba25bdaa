import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../random.ts';

/** A response of an AWS service. */
export interface Answer {
  readonly status: number;
  /** JSON. */
  readonly body: string;
}

type Attributes = Readonly<Record<string, object>>;

/** A write of one item, or an action of a transaction. */
interface Write {
  readonly Key?: Attributes;
  readonly Item?: Attributes;
}

const SINGLE_WRITES: ReadonlySet<string> = new Set(['PutItem', 'UpdateItem', 'DeleteItem']);

const itemOf = ({ Key, Item }: Write): string => {
  const { pk, sk } = Key ?? Item ?? {};
  return JSON.stringify([pk, sk]);
};

const ONGOING = 'Transaction is ongoing for the item';
const refusal = (type: string, rest: object): Answer => ({
  status: 400,
  body: JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${type}`, ...rest }),
});

/**
 * Refuses writes that conflict, as DynamoDB does and its emulator does not, in one table. A transaction has its items for a random time:
 * meanwhile other transactions on them are cancelled, and single writes refused. A single write that is under way cancels transactions on
 * its item. Reads, and single writes among themselves, never conflict.
 *
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html#transaction-conflict-handling
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html
 */
export const itemLocks = (random: Random, { leastMs = 5, mostMs = 10 } = {}) => {
  const inTransaction = new Set<string>();
  const singleWrites = new Map<string, number>();
  const conflicts = { transactions: 0, writes: 0 };

  const transact = async (items: readonly string[], send: () => Promise<Answer>): Promise<Answer> => {
    const reasons = items.map((item) => inTransaction.has(item) || singleWrites.has(item));
    if (reasons.includes(true)) {
      conflicts.transactions += 1;
      return refusal('TransactionCanceledException', {
        Message: 'Transaction cancelled, please refer cancellation reasons for specific reasons',
        CancellationReasons: reasons.map((isBusy) =>
          isBusy ? { Code: 'TransactionConflict', Message: ONGOING } : { Code: 'None' },
        ),
      });
    }
    for (const item of items) inTransaction.add(item);
    try {
      const [answer] = await Promise.all([send(), sleep(leastMs + random.below(mostMs - leastMs + 1))]);
      return answer;
    } finally {
      for (const item of items) inTransaction.delete(item);
    }
  };

  const write = async (item: string, send: () => Promise<Answer>): Promise<Answer> => {
    if (inTransaction.has(item)) {
      conflicts.writes += 1;
      return refusal('TransactionConflictException', { message: ONGOING });
    }
    singleWrites.set(item, (singleWrites.get(item) ?? 0) + 1);
    try {
      return await send();
    } finally {
      const others = (singleWrites.get(item) ?? 0) - 1;
      if (others > 0) singleWrites.set(item, others);
      else singleWrites.delete(item);
    }
  };

  return {
    /** How many were refused so far. */
    conflicts: conflicts as Readonly<typeof conflicts>,

    /** Sends a call, unless it conflicts. @param body JSON, as DynamoDB takes it */
    run: (operation: string, body: string, send: () => Promise<Answer>): Promise<Answer> => {
      if (operation === 'TransactWriteItems') {
        const { TransactItems } = JSON.parse(body) as { readonly TransactItems: readonly Record<string, Write>[] };
        return transact(TransactItems.flatMap(Object.values).map(itemOf), send);
      }
      return SINGLE_WRITES.has(operation) ? write(itemOf(JSON.parse(body) as Write), send) : send();
    },
  };
};

export type ItemLocks = ReturnType<typeof itemLocks>;

import { limitValueKey, overrideKey } from '../../data/table/keys.ts';
import type { Override, ValueUse } from '../../domain/limits/each.ts';
import type { AwsCall } from '../aws/aws-json.ts';
import { cachedReads, SHORT_LIVED, type Unavailable } from './cached-reads.ts';

/** The value at hand of a limit of each, in one period. */
export interface ValueName {
  readonly accountId: string;
  readonly budgetId: string;
  readonly periodId: string;
  readonly value: string | null;
}

/** The count of a value, and the amount that somebody decided for it. */
export interface KnownValue extends ValueUse {
  readonly committedNanoUsd: number;
  readonly override: Override | null;
}

interface Attributes {
  readonly [name: string]: { readonly S?: string; readonly N?: string; readonly M?: Attributes };
}

const number = (item: Attributes | undefined, name: string): number => Number(item?.[name]?.N ?? 0);

const overrideIn = (item: Attributes): Override => ({
  amountNanoUsd: item['amountNanoUsd']?.N === undefined ? null : number(item, 'amountNanoUsd'),
  until: item['until']?.S ?? null,
  ...(item['after']?.M && { after: overrideIn(item['after'].M) }),
});

interface BatchResponse {
  readonly Responses?: Readonly<Record<string, readonly Attributes[]>>;
  readonly UnprocessedKeys?: object;
}

/** One eventually consistent read of the value's two items: what it has used, and its override. */
export const valueReader =
  (dynamodb: AwsCall, tableName: string, timeoutMs: number) =>
  async (name: string): Promise<KnownValue> => {
    const [accountId, budgetId, periodId, value] = JSON.parse(name) as [string, string, string, string | null];
    const keys = [limitValueKey(accountId, budgetId, periodId, value), overrideKey(accountId, budgetId, value)];
    const Keys = keys.map(({ pk, sk }) => ({ pk: { S: pk }, sk: { S: sk } }));
    const { Responses, UnprocessedKeys } = (await dynamodb(
      'BatchGetItem',
      { RequestItems: { [tableName]: { Keys } } },
      timeoutMs,
    )) as BatchResponse;
    if (Object.keys(UnprocessedKeys ?? {}).length > 0) throw new Error('The table is throttled.');
    const items = Responses?.[tableName] ?? [];
    const [use, override] = keys.map(({ sk }) => items.find((item) => item['sk']?.S === sk));
    return {
      usedNanoUsd: number(use, 'finished'),
      unpricedRequests: number(use, 'unpriced'),
      committedNanoUsd: number(use, 'committed'),
      override: override ? overrideIn(override) : null,
    };
  };

/** Caches values in the process for 5 s. Only the value that a request has is ever read. */
export const cachedValueLookup = (read: (name: string) => Promise<KnownValue>, now?: () => number) => {
  const lookUp = cachedReads(read, SHORT_LIVED, now);
  return ({
    accountId,
    budgetId,
    periodId,
    value,
  }: ValueName): KnownValue | Unavailable | Promise<KnownValue | Unavailable> =>
    lookUp(JSON.stringify([accountId, budgetId, periodId, value]));
};

export type ValueLookup = ReturnType<typeof cachedValueLookup>;

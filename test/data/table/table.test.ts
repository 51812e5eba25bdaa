import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { tableAt } from '../../../fixtures/emulated-table.ts';
import { cancelled, interceptTable } from '../../../fixtures/intercept-table.ts';
import { put } from '../../../lambda/data/table/actions.ts';
import { batchDelete, batchRead } from '../../../lambda/data/table/batch.ts';
import type { Table } from '../../../lambda/data/table/table.ts';
import { transact } from '../../../lambda/data/table/write.ts';
import { UnavailableError } from '../../../lambda/domain/errors.ts';
import { awsErrors, type Fault, type FaultProxy, startFaultProxy } from '../../faults/harness/fault-proxy.ts';
import { tableForTests } from '../../table-for-tests.ts';

const table = tableForTests();
const TableName = 'spend';
const key = { pk: 'a', sk: 'b' };

describe('the table', () => {
  const item = {
    ...key,
    text: '☃ "\u0000',
    number: -1.5,
    yes: true,
    nothing: null,
    bytes: new Uint8Array([0, 255]),
    list: [1, 'two', { three: 3 }],
    names: new Set(['x', 'y']),
    sum: 2n ** 60n,
  };

  it('keeps every kind of value', async () => {
    await table.call('PutItem', { TableName, Item: { ...item, left: undefined } });
    const { Item } = await table.call('GetItem', { TableName, Key: key });
    expect(Item).toEqual(item);
  });

  it.each([
    ['NaN', Number.NaN],
    ['an infinite number', Number.POSITIVE_INFINITY],
    ['a number past 2^53, which may be rounded', 2 ** 53],
    ['an empty set', new Set()],
    ['a date', new Date()],
  ])('refuses %s instead of keeping something else', async (_, value) => {
    await expect(table.call('PutItem', { TableName, Item: { ...key, value } })).rejects.toThrow();
    const { Item } = await table.call('GetItem', { TableName, Key: key });
    expect(Item).not.toHaveProperty('value');
  });
});

describe('a call that fails', () => {
  let proxy: FaultProxy;
  let faulty: Table;
  beforeAll(async () => {
    proxy = await startFaultProxy(table.endpoint);
    faulty = tableAt(proxy.endpoint, TableName);
  });
  afterEach(async () => {
    jest.useRealTimers();
    jest.restoreAllMocks();
    await proxy.set({ kind: 'none' });
    proxy.calls.clear();
  });
  afterAll(() => proxy.close());

  const refusal = (type: string): Fault => ({
    kind: 'error',
    status: 400,
    body: { __type: `com.amazonaws.dynamodb.v20120810#${type}` },
  });

  it.each<[string, Fault, number]>([
    ['too many calls', { kind: 'error', ...awsErrors.dynamoDbThrottled }, 3],
    ['too many calls to the service', { kind: 'error', ...awsErrors.throttled }, 3],
    ['a transaction that has the item', refusal('TransactionConflictException'), 3],
    ['a failure of AWS', { kind: 'error', ...awsErrors.internal }, 3],
    ['a service that is not available', { kind: 'error', ...awsErrors.unavailable }, 3],
    ['a response that is lost', { kind: 'responseLost' }, 3],
    ['a condition that does not hold', refusal('ConditionalCheckFailedException'), 1],
    ['a permission that is missing', refusal('AccessDeniedException'), 1],
    ['a request that is wrong', refusal('ValidationException'), 1],
  ])('after %s', async (_, fault, attempts) => {
    jest.spyOn(Math, 'random').mockReturnValue(0);
    await proxy.set(fault);
    await expect(faulty.call('PutItem', { TableName, Item: key })).rejects.toThrow();
    expect(proxy.calls.get('PutItem')).toBe(attempts);
  });

  it.each(['TransactionConflict', 'ThrottlingError', 'ProvisionedThroughputExceeded'])(
    'in a transaction after %s, is tried again, and then not available',
    async (code) => {
      jest.spyOn(Math, 'random').mockReturnValue(0);
      let refusals = 3;
      const busy = interceptTable(table, async (_, send) => {
        if (refusals-- > 0) throw cancelled([code]);
        return send();
      });
      await transact(busy, [put(key)]);
      refusals = Number.POSITIVE_INFINITY;
      await expect(transact(busy, [put(key)])).rejects.toThrow(UnavailableError);
    },
  );

  it.each(['Keys', 'Items'])('is not available while it leaves Unprocessed%s of a batch', async (kind) => {
    jest.spyOn(Math, 'random').mockReturnValue(0);
    const busy = interceptTable(table, async ({ input }) => ({ [`Unprocessed${kind}`]: Object(input).RequestItems }));
    const call = kind === 'Keys' ? batchRead(busy, [key], { consistent: true }) : batchDelete(busy, [key]);
    await expect(call).rejects.toThrow(UnavailableError);
  });

  it('has as many items in a batch as DynamoDB takes', async () => {
    const sizes: number[] = [];
    const counted = interceptTable(table, async ({ input }, send) => {
      const [some] = Object.values<{ Keys?: unknown[] } & unknown[]>(Object(input).RequestItems);
      sizes.push((some?.Keys ?? some ?? []).length);
      return send();
    });
    const keys = Array.from({ length: 101 }, (_, index) => ({ pk: 'many', sk: String(index) }));
    await batchRead(counted, keys, { consistent: true });
    await batchDelete(counted, keys.slice(0, 26));
    expect(sizes).toEqual([100, 1, 25, 1]);
  });

  it('for want of a response ends after 5 s, and is tried three times', async () => {
    jest.useFakeTimers({ doNotFake: ['Date', 'nextTick', 'performance', 'queueMicrotask', 'setImmediate'] });
    await proxy.set({ kind: 'silent' });
    // The SDK warns where it would go on waiting.
    const warn = jest.spyOn(console, 'warn');
    let ended: unknown;
    const call = faulty.call('GetItem', { TableName, Key: key }).catch((error: unknown) => {
      ended = error;
    });
    for (let waited = 0; !ended; ) {
      const calls = proxy.calls.get('GetItem') ?? 0;
      jest.advanceTimersByTime(calls > waited ? 5_000 : 1);
      waited = calls;
      await new Promise(setImmediate);
    }
    await call;
    expect(ended).toMatchObject({ name: 'TimeoutError' });
    expect(warn).not.toHaveBeenCalled();
    expect(proxy.calls.get('GetItem')).toBe(3);
  });

  it('writes a transaction once, however often its response is lost, and the next one as well', async () => {
    jest.spyOn(Math, 'random').mockReturnValue(0);
    const counter = { pk: 'counter', sk: '1' };
    const add = () =>
      faulty.call('TransactWriteItems', {
        TransactItems: [
          {
            Update: {
              TableName,
              Key: counter,
              UpdateExpression: 'ADD n :one',
              ExpressionAttributeValues: { ':one': 1 },
            },
          },
        ],
      });
    await proxy.set({ kind: 'responseLost' });
    await expect(add()).rejects.toThrow();
    expect(proxy.calls.get('TransactWriteItems')).toBe(3);
    const read = async () => (await table.call('GetItem', { TableName, Key: counter })).Item?.['n'];
    expect(await read()).toBe(1);
    await proxy.set({ kind: 'none' });
    await add();
    expect(await read()).toBe(2);
  });
});

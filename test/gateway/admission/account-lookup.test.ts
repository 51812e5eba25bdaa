import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { serviceKeyKey } from '../../../lambda/data/table/keys.ts';
import { secretHash } from '../../../lambda/domain/accounts/issued-secret.ts';
import {
  cachedAccountLookup,
  type KeyOwner,
  keyReader,
  type ReadKey,
} from '../../../lambda/gateway/admission/account-lookup.ts';

const owner: KeyOwner = { accountId: 'a', keyId: 'k', active: true };

const scripted = (results: (KeyOwner | 'no-such-key' | Error)[]) => {
  let now = 1_000_000;
  let reads = 0;
  const lookUp = cachedAccountLookup(
    async () => {
      const result = results[Math.min(reads++, results.length - 1)] as KeyOwner;
      if (result instanceof Error) throw result;
      return result;
    },
    () => now,
  );
  return { lookUp, reads: () => reads, pass: (ms: number) => (now += ms) };
};

const down = new Error('down');

describe('the account cache', () => {
  it('reads again in the background after 30 s, and waits for it after 60 s', async () => {
    const { lookUp, reads, pass } = scripted([owner, { ...owner, active: false }, 'no-such-key']);
    await lookUp('x');
    pass(31_000);
    expect(lookUp('x')).toBe(owner);
    await new Promise(setImmediate);
    expect(lookUp('x')).toMatchObject({ active: false });
    pass(60_000);
    expect(await lookUp('x')).toBe('no-such-key');
    expect(reads()).toBe(3);
  });

  it('remembers for 10 s that there is no such key', async () => {
    const { lookUp, reads, pass } = scripted(['no-such-key', owner]);
    expect(await lookUp('x')).toBe('no-such-key');
    pass(9_000);
    expect(lookUp('x')).toBe('no-such-key');
    pass(1_001);
    expect(await lookUp('x')).toEqual(owner);
    expect(reads()).toBe(2);
  });

  it('serves the cached owner while the store is down, and retries once a second', async () => {
    const { lookUp, reads, pass } = scripted([owner, down, down, { ...owner, keyId: 'new' }]);
    await lookUp('x');
    pass(120_000);
    expect(await lookUp('x')).toEqual(owner);
    expect(lookUp('x')).toEqual(owner);
    expect(reads()).toBe(2);
    for (const expected of [owner, owner, { ...owner, keyId: 'new' }]) {
      pass(1_001);
      expect(lookUp('x')).toEqual(expected);
      await new Promise(setImmediate);
    }
    expect(reads()).toBe(4);
  });

  it('does not wait for a store that failed a moment ago, cached key or not', async () => {
    const { lookUp, pass } = scripted([down, down, owner, owner]);
    expect(await lookUp('x')).toBe('unavailable');
    expect(lookUp('x')).toBe('unavailable');
    pass(1_001);
    expect(lookUp('x')).toBe('unavailable');
    await new Promise(setImmediate);
    pass(1_001);
    expect(lookUp('x')).toBe('unavailable');
    await new Promise(setImmediate);
    expect(lookUp('x')).toEqual(owner);
  });

  it('shares a read that is in flight', async () => {
    const { lookUp, reads } = scripted([owner]);
    await Promise.all([lookUp('x'), lookUp('x'), lookUp('x')]);
    expect(reads()).toBe(1);
  });
});

/* Lambda freezes a process between two requests. Its monotonic clock may stand still meanwhile. */
describe('a process that was frozen', () => {
  const HOURS = 3 * 3_600_000;
  let dayMs = 0;
  beforeEach(() => {
    jest.spyOn(Date, 'now').mockImplementation(() => dayMs);
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });

  it.each([
    ['some hours later', HOURS],
    ['where its clock is set back', -300_000],
  ])('reads again what it knew, %s', async (_case, passedMs) => {
    const lookUp = cachedAccountLookup(
      jest.fn<ReadKey>().mockResolvedValueOnce(owner).mockResolvedValue('no-such-key'),
    );
    await lookUp('x');
    dayMs += passedMs;
    expect(await lookUp('x')).toBe('no-such-key');
  });

  it.each([
    ['responded', (read: PromiseWithResolvers<KeyOwner>) => read.resolve(owner)],
    ['failed', (read: PromiseWithResolvers<KeyOwner>) => read.reject(down)],
  ])('makes a read again that %s meanwhile', async (_case, end) => {
    const interrupted = Promise.withResolvers<KeyOwner>();
    const read = jest.fn<ReadKey>().mockResolvedValueOnce(owner).mockReturnValueOnce(interrupted.promise);
    const lookUp = cachedAccountLookup(read.mockResolvedValue('no-such-key'));
    await lookUp('x');
    dayMs += 31_000;
    expect(lookUp('x')).toBe(owner);
    dayMs += HOURS;
    const found = lookUp('x');
    end(interrupted);
    expect(await found).toBe('no-such-key');
  });
});

describe('the bounds of the account cache', () => {
  it('keeps 10,000 keys; the one refreshed longest ago goes first', async () => {
    const { lookUp, pass } = scripted([owner]);
    for (let n = 0; n < 10_000; n++) await lookUp(`key-${n}`);
    pass(30_000);
    // Read again in the background, so it is no longer the oldest.
    expect(lookUp('key-0')).toBe(owner);
    await new Promise(setImmediate);
    await lookUp('one more');
    expect(lookUp('key-0')).toBe(owner);
    expect(lookUp('one more')).toBe(owner);
    expect(lookUp('key-9999')).toBe(owner);
    expect(lookUp('key-1')).toBeInstanceOf(Promise);
  });

  it('makes no room for a key that it has', async () => {
    const { lookUp, pass } = scripted([owner]);
    for (let n = 0; n < 10_000; n++) await lookUp(`key-${n}`);
    pass(30_000);
    lookUp('key-5000');
    await new Promise(setImmediate);
    expect(lookUp('key-0')).toBe(owner);
  });

  it('does not count a key that was read again as the oldest, however full it is', async () => {
    const { lookUp, pass } = scripted([owner]);
    for (let n = 0; n < 9_999; n++) await lookUp(`key-${n}`);
    pass(30_000);
    lookUp('key-0');
    await new Promise(setImmediate);
    for (const key of ['one more', 'and one']) await lookUp(key);
    expect(lookUp('key-0')).toBe(owner);
    expect(lookUp('key-1')).toBeInstanceOf(Promise);
  });

  it('reads in the background from exactly 30 s, and retries from exactly 1 s after a failure', async () => {
    const { lookUp, reads, pass } = scripted([owner, down, owner]);
    await lookUp('x');
    pass(29_999);
    lookUp('x');
    expect(reads()).toBe(1);
    pass(1);
    lookUp('x');
    expect(reads()).toBe(2);
    await new Promise(setImmediate);
    pass(999);
    lookUp('x');
    expect(reads()).toBe(2);
    pass(1);
    lookUp('x');
    expect(reads()).toBe(3);
  });

  it('waits for a store that failed exactly 5 s ago', async () => {
    const { lookUp, pass } = scripted([down, owner]);
    await lookUp('x');
    pass(5_000);
    expect(await lookUp('x')).toEqual(owner);
  });
});

describe('reading a key', () => {
  const read = (item: Record<string, string> | undefined) =>
    keyReader(
      async () =>
        item ? { Item: Object.fromEntries(Object.entries(item).map(([name, value]) => [name, { S: value }])) } : {},
      'table',
      500,
    )('svc_x');
  const item = { accountId: 'a', keyId: 'k', keyStatus: 'active', accountStatus: 'active' };

  it.each([
    ['an active key', item, { accountId: 'a', keyId: 'k', active: true }],
    ['a suspended account', { ...item, accountStatus: 'suspended' }, { accountId: 'a', keyId: 'k', active: false }],
    ['a cancelled account', { ...item, accountStatus: 'cancelled' }, { accountId: 'a', keyId: 'k', active: false }],
    ['a revoked key', { ...item, keyStatus: 'revoked' }, 'no-such-key'],
    ['no item', undefined, 'no-such-key'],
  ])('%s', async (_case, stored, expected) => {
    expect(await read(stored)).toEqual(expected);
  });

  it.each(['accountId', 'keyId', 'keyStatus'] as const)('an item without %s is no key', async (name) => {
    const { [name]: _missing, ...rest } = item;
    expect(await read(rest)).toBe('no-such-key');
  });

  it('an item without the account’s status is no active account', async () => {
    const { accountStatus: _missing, ...rest } = item;
    expect(await read(rest)).toMatchObject({ active: false });
  });

  it('takes one read of the whole key, within the time-out', async () => {
    const calls: unknown[] = [];
    const dynamodb = async (...call: unknown[]) => {
      calls.push(call);
      return {};
    };
    await keyReader(dynamodb, 'table', 500)('svc_x');
    const { pk, sk } = serviceKeyKey(secretHash('svc_x'));
    expect(calls).toEqual([['GetItem', { TableName: 'table', Key: { pk: { S: pk }, sk: { S: sk } } }, 500]]);
  });
});

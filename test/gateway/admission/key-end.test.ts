import { randomBytes } from 'node:crypto';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { newAccountKey } from '../../../lambda/domain/accounts/issued-secret.ts';
import { providerByLabel } from '../../../lambda/domain/providers.ts';
import { cachedAccountLookup, keyReader } from '../../../lambda/gateway/admission/account-lookup.ts';
import { admit } from '../../../lambda/gateway/admission/admit.ts';

const END = Date.parse('2026-11-20T12:00:00.000Z');
const serviceKey = newAccountKey(randomBytes);

afterEach(() => {
  jest.restoreAllMocks();
});

/** Admits requests with one key, whose item the table has. @param reads counts the reads of the table */
const gateway = (item: Record<string, { S: string }>) => {
  let reads = 0;
  const read = keyReader(
    async () => {
      reads++;
      return { Item: item };
    },
    'table',
    1_000,
  );
  const lookUp = cachedAccountLookup(read, () => 0);
  return {
    reads: () => reads,
    admit: async () =>
      admit(
        { serviceKey, request: { headers: ['Authorization', 'Bearer sk-test'] } } as unknown as Parameters<
          typeof admit
        >[0],
        providerByLabel('openai'),
        lookUp,
        () => 'unavailable',
      ),
  };
};

const active = {
  accountId: { S: 'account' },
  keyId: { S: 'key' },
  keyStatus: { S: 'active' },
  accountStatus: { S: 'active' },
};

describe('the end of a key', () => {
  it('holds to the millisecond, also for a cached key', async () => {
    const clock = jest.spyOn(Date, 'now');
    const { admit: admitOnce, reads } = gateway({ ...active, validUntil: { S: new Date(END).toISOString() } });
    clock.mockReturnValue(END - 1);
    expect(await admitOnce()).toMatchObject({ owner: { accountId: 'account', validUntilMs: END } });
    clock.mockReturnValue(END);
    expect(await admitOnce()).toBe('INVALID_SERVICE_KEY');
    expect(reads()).toBe(1);
  });

  it('is none for a key without one', async () => {
    jest.spyOn(Date, 'now').mockReturnValue(8.64e15);
    expect(await gateway(active).admit()).toMatchObject({ owner: { keyId: 'key' } });
  });
});

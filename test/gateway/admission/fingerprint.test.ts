import { createHmac } from 'node:crypto';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { credentialFingerprint } from '../../../lambda/gateway/admission/fingerprint.ts';

const expected = (credential: string, secret = 'key') =>
  createHmac('sha256', secret).update(credential).digest('hex').slice(0, 16);

/** A secrets manager that returns these results one after the other; the last one again and again. */
const scripted = (...results: (Record<string, unknown> | Error | null)[]) => {
  const calls: unknown[][] = [];
  const fingerprint = credentialFingerprint(
    async (...call) => {
      calls.push(call);
      const result = results[Math.min(calls.length, results.length) - 1] as Record<string, unknown> | Error;
      if (result instanceof Error) throw result;
      return result;
    },
    'secret-id',
    3_000,
  );
  return { fingerprint, calls };
};

afterEach(() => {
  jest.restoreAllMocks();
});

describe('the fingerprint of a credential', () => {
  it('is the first 16 digits of its HMAC, with a key that is read once', async () => {
    const { fingerprint, calls } = scripted({ SecretString: 'key' });
    expect(await Promise.all([fingerprint('a'), fingerprint('b')])).toEqual([expected('a'), expected('b')]);
    expect(await fingerprint('c')).toBe(expected('c'));
    expect(calls).toEqual([['GetSecretValue', { SecretId: 'secret-id' }, 3_000]]);
  });

  it('is there at once from the second time on', async () => {
    const { fingerprint } = scripted({ SecretString: 'key' });
    expect(fingerprint('a')).toBeInstanceOf(Promise);
    await fingerprint('a');
    expect(fingerprint('a')).toBe(expected('a'));
    expect(fingerprint('b')).toBeInstanceOf(Promise);
  });

  it('is null while the key cannot be read, which is tried again after 10 s', async () => {
    const now = jest.spyOn(Date, 'now').mockReturnValue(50_000);
    const { fingerprint, calls } = scripted(new Error('down'), { SecretString: 'key' });
    expect(await fingerprint('a')).toBeNull();
    now.mockReturnValue(59_999);
    expect(fingerprint('a')).toBeNull();
    expect(calls).toHaveLength(1);
    now.mockReturnValue(60_000);
    expect(await fingerprint('a')).toBe(expected('a'));
    expect(calls).toHaveLength(2);
  });

  it.each([{}, { SecretString: '' }, { SecretString: 7 }, null])(
    'is null without a key, which is tried again: %j',
    async (result) => {
      const now = jest.spyOn(Date, 'now').mockReturnValue(50_000);
      const { fingerprint } = scripted(result, { SecretString: 'key' });
      expect(await fingerprint('a')).toBeNull();
      now.mockReturnValue(60_000);
      expect(await fingerprint('a')).toBe(expected('a'));
    },
  );

  it('is cached for 1,000 credentials; the oldest goes first', async () => {
    const { fingerprint } = scripted({ SecretString: 'key' });
    for (let n = 0; n < 1_000; n++) await fingerprint(String(n));
    expect(fingerprint('0')).toBe(expected('0'));
    await fingerprint('1000');
    expect(fingerprint('0')).toBeInstanceOf(Promise);
    expect(fingerprint('2')).toBe(expected('2'));
    expect(fingerprint('1000')).toBe(expected('1000'));
  });
});

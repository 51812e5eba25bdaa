import { describe, expect, it } from '@jest/globals';
import { cachedSecret } from '../../lambda/integrations/stripe-client.ts';

/** A fake Secrets Manager with a secret that changes, and a clock. */
const vault = (first: string) => {
  const state = { value: first as string | Error, nowMs: 0, reads: 0 };
  const client = {
    send: async () => {
      state.reads += 1;
      if (state.value instanceof Error) throw state.value;
      return { SecretString: state.value };
    },
  };
  return { state, secret: cachedSecret(client as never, 'id', () => state.nowMs) };
};

describe('a cached secret', () => {
  it('is read once, and again after five minutes', async () => {
    const { state, secret } = vault('one');
    expect(await secret.read()).toBe('one');
    state.value = 'two';
    state.nowMs = 299_999;
    expect(await secret.read()).toBe('one');
    state.nowMs = 300_000;
    expect(await secret.read()).toBe('two');
    expect(state.reads).toBe(2);
  });

  it('is read again when it fails, but not at every failure', async () => {
    const { state, secret } = vault('one');
    await secret.read();
    state.value = 'two';
    state.nowMs = 30_000;
    expect(await secret.reread()).toBe('two');
    state.value = 'three';
    for (let n = 0; n < 50; n++) expect(await secret.reread()).toBe('two');
    expect(state.reads).toBe(2);
    state.nowMs = 60_000;
    expect(await secret.reread()).toBe('three');
    // Somebody set the clock back.
    state.value = 'four';
    state.nowMs = 0;
    expect(await secret.reread()).toBe('four');
  });

  it('stays valid while it cannot be read, with few attempts', async () => {
    const { state, secret } = vault('one');
    await secret.read();
    state.value = new Error('Secrets Manager is down.');
    state.nowMs = 400_000;
    expect(await secret.read()).toBe('one');
    expect(await secret.read()).toBe('one');
    expect(await secret.reread()).toBe('one');
    expect(state.reads).toBe(2);
  });

  it('is an error if it could never be read', async () => {
    const { state, secret } = vault('one');
    state.value = new Error('No access.');
    await expect(secret.read()).rejects.toThrow('No access.');
    await expect(secret.reread()).rejects.toThrow('No access.');
    state.value = 'one';
    expect(await secret.read()).toBe('one');
  });
});

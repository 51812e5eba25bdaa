import { GetSecretValueCommand, type SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { MINUTE_MS } from '../domain/calendar/units.ts';

/** The text of a secret, cached for five minutes. */
export interface CachedSecret {
  read(): Promise<string>;
  /** Reads the secret again because the cached text failed: it may have been rotated. At most once in 30 s. */
  reread(): Promise<string>;
}

/** A revoked secret may be accepted for this long. */
const REMEMBERED_MS = 5 * MINUTE_MS;
/** Anyone can send a wrong signature, and not each one may cause a call to Secrets Manager. */
const REREAD_EVERY_MS = 30_000;

/** @param now milliseconds, monotonic */
export const cachedSecret = (
  client: Pick<SecretsManagerClient, 'send'>,
  secretId: string,
  now: () => number = () => performance.now(),
): CachedSecret => {
  let cached: { readonly text: string; readonly readAt: number } | undefined;
  let triedAt = Number.NEGATIVE_INFINITY;

  const fetch = async (): Promise<string> => {
    triedAt = now();
    const { SecretString: text } = await client.send(new GetSecretValueCommand({ SecretId: secretId }));
    if (text === undefined) throw new Error('The secret has no text.');
    cached = { text, readAt: now() };
    return text;
  };
  /** Keeps the cached text while the secret cannot be read. */
  const fetchOrCached = async (): Promise<string> => {
    const stale = cached;
    return stale === undefined ? fetch() : fetch().catch(() => stale.text);
  };
  const isAllowed = () => now() - triedAt >= REREAD_EVERY_MS;

  return {
    read: async () => {
      if (cached === undefined) return fetch();
      return now() - cached.readAt >= REMEMBERED_MS && isAllowed() ? fetchOrCached() : cached.text;
    },
    reread: async () => (cached === undefined || isAllowed() ? fetchOrCached() : cached.text),
  };
};

import { GetSecretValueCommand, type SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { MINUTE_MS } from '../domain/calendar/units.ts';

/** A secret's text, remembered for a while. */
export interface CachedSecret {
  read(): Promise<string>;
  /** Reads it again, since what was remembered did not serve: it may have been rotated. At most once in a while. */
  reread(): Promise<string>;
}

/** How long a secret that was taken out of service may still be accepted. */
const REMEMBERED_MS = 5 * MINUTE_MS;
/** Anybody can send a wrong signature: that must not become a call to Secrets Manager each time. */
const REREAD_EVERY_MS = 30_000;

/** @param now milliseconds, monotonic */
export const cachedSecret = (
  client: Pick<SecretsManagerClient, 'send'>,
  secretId: string,
  now: () => number = () => performance.now(),
): CachedSecret => {
  let known: { readonly text: string; readonly readAt: number } | undefined;
  let triedAt = Number.NEGATIVE_INFINITY;

  const fetch = async (): Promise<string> => {
    triedAt = now();
    const { SecretString: text } = await client.send(new GetSecretValueCommand({ SecretId: secretId }));
    if (text === undefined) throw new Error('The secret has no text.');
    known = { text, readAt: now() };
    return text;
  };
  /** While it cannot be read, what is known stays in force. */
  const orKnown = async (): Promise<string> => {
    const stale = known;
    return stale === undefined ? fetch() : fetch().catch(() => stale.text);
  };
  const isAllowed = () => now() - triedAt >= REREAD_EVERY_MS;

  return {
    read: async () => {
      if (known === undefined) return fetch();
      return now() - known.readAt >= REMEMBERED_MS && isAllowed() ? orKnown() : known.text;
    },
    reread: async () => (known === undefined || isAllowed() ? orKnown() : known.text),
  };
};

import { createHmac } from 'node:crypto';
import type { AwsCall } from '../aws/aws-json.ts';

/** Makes a credential's fingerprint. Synchronous when cached; null while its key cannot be read. Never rejects. */
export type Fingerprint = (credential: string) => string | null | Promise<string | null>;

/** 64 bits: enough to distinguish an account's provider keys, too few to identify a credential elsewhere. */
const HEX_CHARACTERS = 16;
const RETRY_MS = 10_000;
/** A Map bounds this cache, and that of accounts: lru-cache took 2.6 times as long per hit, and 7 ms of each cold start. */
const MAX_CACHED = 1_000;

/**
 * Keyed fingerprints (HMAC-SHA256) of provider credentials. Nobody can test a guess without the key. The key is read from
 * Secrets Manager once per process, on first use and in parallel with forwarding, so no request waits for it.
 */
export const credentialFingerprint = (secretsManager: AwsCall, secretId: string, timeoutMs: number): Fingerprint => {
  let key: Promise<string | null> | undefined;
  let failedAt = Number.NEGATIVE_INFINITY;
  const cached = new Map<string, string>();

  const readKey = (): Promise<string | null> => {
    key ??= secretsManager('GetSecretValue', { SecretId: secretId }, timeoutMs)
      .then((response) => {
        const secret = response['SecretString'];
        if (typeof secret !== 'string' || secret === '') throw new Error('The secret has no text.');
        return secret;
      })
      .catch(() => {
        failedAt = Date.now();
        key = undefined;
        return null;
      });
    return key;
  };

  const make = (secret: string, credential: string): string => {
    const fingerprint = createHmac('sha256', secret).update(credential).digest('hex').slice(0, HEX_CHARACTERS);
    if (cached.size >= MAX_CACHED) cached.delete(cached.keys().next().value as string);
    cached.set(credential, fingerprint);
    return fingerprint;
  };

  return (credential) => {
    const known = cached.get(credential);
    if (known !== undefined) return known;
    // The other clock stands still while Lambda freezes the process.
    if (Math.abs(Date.now() - failedAt) < RETRY_MS) return null;
    return readKey().then((secret) => (secret === null ? null : make(secret, credential)));
  };
};

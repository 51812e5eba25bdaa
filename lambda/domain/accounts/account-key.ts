import { isWellFormedSecret, newSecret, secretHash } from './issued-secret.ts';

const PREFIX = 'svc_';

/**
 * A new account key: a secret that begins with `svc_`.
 *
 * @param randomBytes a cryptographic source, such as `node:crypto`'s
 */
export const newAccountKey = (randomBytes: (size: number) => Uint8Array): string => newSecret(PREFIX, randomBytes);

/** The hash of a service key: tables, events and logs have only this. */
export const serviceKeyHash = (serviceKey: string): string => secretHash(serviceKey);

/** True for text that may be the hash of a key. Other text must not reach the table, which rejects some of it. */
export const isServiceKeyHash = (text: string): boolean => /^[\w-]{43}$/.test(text);

/** True for the right shape and checksum. The key need not exist. */
export const isWellFormedAccountKey = (key: string): boolean => isWellFormedSecret(PREFIX, key);

import { isWellFormedSecret, newSecret, secretHash } from './issued-secret.ts';

const PREFIX = 'sat_';

/**
 * A new API token: a secret that begins with `sat_`.
 *
 * @param randomBytes a cryptographic source, such as `node:crypto`'s
 */
export const newApiToken = (randomBytes: (size: number) => Uint8Array): string => newSecret(PREFIX, randomBytes);

/** True for the right shape and checksum. The token need not exist. */
export const isWellFormedApiToken = (token: string): boolean => isWellFormedSecret(PREFIX, token);

/** Address of a token's user in the user pool, which knows users by address. No mail reaches it (RFC 2606). */
export const apiTokenEmail = (tokenId: string): string => `${tokenId}@tokens.invalid`;

/** Password of a token's user. It is made from the token: who has the table and all secrets cannot log in as the user. */
export const apiTokenPassword = (token: string): string => `${secretHash(`user-pool:${token}`)}.1`;

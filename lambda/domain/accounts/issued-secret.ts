import { hash } from 'node:crypto';

/**
 * Secrets that this service issues: a prefix, 24 random base62 characters (143 bits), and 6 characters of base62 CRC-32 of all that. The
 * checksum lets the service reject a malformed secret without a read, and secret scanners match exactly.
 */
const RANDOM_CHARACTERS = 24;
const CHECKSUM_CHARACTERS = 6;
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** The largest multiple of 62 below 256. Larger bytes are discarded, so that all characters are equally likely. */
const UNBIASED_LIMIT = 248;

const crcTable = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  return crc >>> 0;
});

/** CRC-32 (IEEE 802.3) of an ASCII string. Own code, since `zlib.crc32` would load zlib at the gateway's cold start. */
const crc32 = (text: string): number => {
  let crc = 0xffffffff;
  for (let i = 0; i < text.length; i++) crc = (crcTable[(crc ^ text.charCodeAt(i)) & 0xff] as number) ^ (crc >>> 8);
  return (crc ^ 0xffffffff) >>> 0;
};

const checksum = (text: string): string => {
  let rest = crc32(text);
  let digits = '';
  for (let i = 0; i < CHECKSUM_CHARACTERS; i++) {
    digits = BASE62[rest % 62] + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
};

/** @param randomBytes a cryptographic source, such as `node:crypto`'s */
const newSecret = (prefix: string, randomBytes: (size: number) => Uint8Array): string => {
  let secret = prefix;
  while (secret.length < prefix.length + RANDOM_CHARACTERS) {
    for (const byte of randomBytes(RANDOM_CHARACTERS)) {
      if (byte < UNBIASED_LIMIT && secret.length < prefix.length + RANDOM_CHARACTERS) secret += BASE62[byte % 62];
    }
  }
  return secret + checksum(secret);
};

/** True for the right shape and checksum. The secret need not exist. */
const isWellFormedSecret = (prefix: string, secret: string): boolean =>
  secret.length === prefix.length + RANDOM_CHARACTERS + CHECKSUM_CHARACTERS &&
  secret.startsWith(prefix) &&
  /^[0-9A-Za-z]+$/.test(secret.slice(prefix.length)) &&
  checksum(secret.slice(0, -CHECKSUM_CHARACTERS)) === secret.slice(-CHECKSUM_CHARACTERS);

/** SHA-256 of a secret, base64url: tables, events and logs have only this. Nobody can guess 143 random bits, so a plain hash is safe. */
export const secretHash = (secret: string): string => hash('sha256', secret, 'base64url');

/** True for text that may be the hash of a secret. Other text must not reach the table, which rejects some of it. */
export const isSecretHash = (text: string): boolean => /^[\w-]{43}$/.test(text);

/** Shows 12 characters of a secret: too few to guess the rest, enough to distinguish secrets. */
export const maskedSecret = (secret: string): string => `${secret.slice(0, 8)}…${secret.slice(-4)}`;

const SERVICE_KEY = 'svc_';

/** A new service key. */
export const newAccountKey = (randomBytes: (size: number) => Uint8Array): string => newSecret(SERVICE_KEY, randomBytes);

/** True for the right shape and checksum. The key need not exist. */
export const isWellFormedAccountKey = (key: string): boolean => isWellFormedSecret(SERVICE_KEY, key);

const API_TOKEN = 'sat_';

export const newApiToken = (randomBytes: (size: number) => Uint8Array): string => newSecret(API_TOKEN, randomBytes);

/** A new code, in whose place a program gets a token. No path takes it for one. */
export const newCode = (randomBytes: (size: number) => Uint8Array): string => newSecret('sac_', randomBytes);

/** True for the right shape and checksum. The token need not exist. */
export const isWellFormedApiToken = (token: string): boolean => isWellFormedSecret(API_TOKEN, token);

/** Address of a token's user in the user pool, which knows users by address. No mail reaches it (RFC 2606). */
export const apiTokenEmail = (tokenId: string): string => `${tokenId}@tokens.invalid`;

/** Password of a token's user. It is made from the token: who has the table and all secrets cannot log in as the user. */
export const apiTokenPassword = (token: string): string => `${secretHash(`user-pool:${token}`)}.1`;

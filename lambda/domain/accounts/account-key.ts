import { createHash } from 'node:crypto';

const PREFIX = 'svc_';
const RANDOM_CHARACTERS = 24;
const CHECKSUM_CHARACTERS = 6;
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const LENGTH = PREFIX.length + RANDOM_CHARACTERS + CHECKSUM_CHARACTERS;
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

/**
 * A new account key: `svc_` + 24 random base62 characters (143 bits) + 6 characters of base62 CRC-32 of the rest. The
 * checksum lets the gateway reject a malformed key without a read, and secret scanners match keys exactly.
 *
 * @param randomBytes a cryptographic source, such as `node:crypto`'s
 */
export const newAccountKey = (randomBytes: (size: number) => Uint8Array): string => {
  let key = PREFIX;
  while (key.length < PREFIX.length + RANDOM_CHARACTERS) {
    for (const byte of randomBytes(RANDOM_CHARACTERS)) {
      if (byte < UNBIASED_LIMIT && key.length < PREFIX.length + RANDOM_CHARACTERS) key += BASE62[byte % 62];
    }
  }
  return key + checksum(key);
};

/**
 * SHA-256 of a service key, base64url: tables, events and logs have only this. A key has 143 random bits, so nobody can reverse a
 * plain hash by guessing.
 */
export const serviceKeyHash = (serviceKey: string): string =>
  createHash('sha256').update(serviceKey).digest('base64url');

/** True for text that may be the hash of a key. Other text must not reach the table, which rejects some of it. */
export const isServiceKeyHash = (text: string): boolean => /^[\w-]{43}$/.test(text);

/** Shows 12 characters of a key: too few to guess the rest, enough to distinguish keys. */
export const maskedServiceKey = (serviceKey: string): string => `${serviceKey.slice(0, 8)}…${serviceKey.slice(-4)}`;

/** True for the right shape and checksum. The key need not exist. */
export const isWellFormedAccountKey = (key: string): boolean =>
  key.length === LENGTH &&
  key.startsWith(PREFIX) &&
  /^[0-9A-Za-z]+$/.test(key.slice(PREFIX.length)) &&
  checksum(key.slice(0, -CHECKSUM_CHARACTERS)) === key.slice(-CHECKSUM_CHARACTERS);

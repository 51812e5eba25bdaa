import { serviceKeyKey } from '../../data/table/keys.ts';
import { serviceKeyHash } from '../../domain/accounts/account-key.ts';
import type { AwsCall } from '../aws/aws-json.ts';

/** The store's data about a service key. */
export interface KeyOwner {
  readonly accountId: string;
  readonly keyId: string;
  readonly active: boolean;
}

/** `unavailable`: the store did not respond and nothing is cached. The caller still forwards the request, as bypassed. */
export type Lookup = KeyOwner | 'no-such-key' | 'unavailable';

/** Reads one service key from the table. Rejects when the store cannot be read. */
export type ReadKey = (serviceKey: string) => Promise<KeyOwner | 'no-such-key'>;

interface StringAttribute {
  readonly S?: string;
}

/** One eventually consistent GetItem (half a read unit). A revoked key counts as no key. */
export const keyReader =
  (dynamodb: AwsCall, tableName: string, timeoutMs: number): ReadKey =>
  async (serviceKey) => {
    const { pk, sk } = serviceKeyKey(serviceKeyHash(serviceKey));
    const response = await dynamodb(
      'GetItem',
      { TableName: tableName, Key: { pk: { S: pk }, sk: { S: sk } } },
      timeoutMs,
    );
    const item = response['Item'] as Record<string, StringAttribute> | undefined;
    const accountId = item?.['accountId']?.S;
    const keyId = item?.['keyId']?.S;
    if (!item || !accountId || !keyId || item['keyStatus']?.S !== 'active') return 'no-such-key';
    return { accountId, keyId, active: item['accountStatus']?.S === 'active' };
  };

const POSITIVE_MS = 60_000;
const NEGATIVE_MS = 10_000;
/** From this age an entry is read again in the background, so that a busy key never waits for the store. */
const REFRESH_MS = 30_000;
/** Shortest time from a failed read to the next, which runs in the background. */
const RETRY_MS = 1_000;
/** For this long after a failed read no request waits for the store: each uses what is cached, if anything. */
const DOWN_MS = 5_000;
const MAX_ENTRIES = 10_000;

interface Entry {
  /** `unavailable`: never read. */
  owner: Lookup;
  readAt: number;
  failedAt: number;
}

/**
 * Caches the owners of keys in the process: for 60 s if found (so long a revoked key or a suspended account may still pass),
 * for 10 s if not. While the store is down, cached owners stay valid, and only the first request of a busy key waits.
 * Concurrent reads of one key are shared.
 *
 * @param now milliseconds, monotonic
 */
export const cachedAccountLookup = (read: ReadKey, now: () => number = () => performance.now()) => {
  const entries = new Map<string, Entry>();
  const inFlight = new Map<string, Promise<Lookup>>();

  const remember = (serviceKey: string, entry: Entry): void => {
    entries.delete(serviceKey);
    if (entries.size >= MAX_ENTRIES) entries.delete(entries.keys().next().value as string);
    entries.set(serviceKey, entry);
  };

  const refresh = (serviceKey: string): Promise<Lookup> => {
    const shared = inFlight.get(serviceKey);
    if (shared) return shared;
    const reading = read(serviceKey)
      .then(
        (owner): Lookup => {
          remember(serviceKey, { owner, readAt: now(), failedAt: Number.NEGATIVE_INFINITY });
          return owner;
        },
        (): Lookup => {
          const { owner, readAt } = entries.get(serviceKey) ?? {
            owner: 'unavailable',
            readAt: Number.NEGATIVE_INFINITY,
          };
          remember(serviceKey, { owner, readAt, failedAt: now() });
          return owner;
        },
      )
      .finally(() => inFlight.delete(serviceKey));
    inFlight.set(serviceKey, reading);
    return reading;
  };

  /** Usually synchronous, from the cache. Never rejects. */
  return (serviceKey: string): Lookup | Promise<Lookup> => {
    const entry = entries.get(serviceKey);
    if (!entry) return refresh(serviceKey);
    const sinceFailure = now() - entry.failedAt;
    if (sinceFailure < DOWN_MS) {
      if (sinceFailure >= RETRY_MS) void refresh(serviceKey);
      return entry.owner;
    }
    const age = now() - entry.readAt;
    if (age >= (entry.owner === 'no-such-key' ? NEGATIVE_MS : POSITIVE_MS)) return refresh(serviceKey);
    if (age >= REFRESH_MS) void refresh(serviceKey);
    return entry.owner;
  };
};

export type AccountLookup = ReturnType<typeof cachedAccountLookup>;

import { serviceKeyKey } from '../../data/table/keys.ts';
import { serviceKeyHash } from '../../domain/accounts/account-key.ts';
import type { AwsCall } from '../aws/aws-json.ts';

/** What the store knows of a service key. */
export interface KeyOwner {
  readonly accountId: string;
  readonly keyId: string;
  readonly active: boolean;
}

/** `unavailable`: the store gave no answer and nothing is cached; the caller forwards all the same, and bypasses. */
export type Lookup = KeyOwner | 'no-such-key' | 'unavailable';

/** Reads one service key from the table. Rejects when the store cannot be read. */
export type ReadKey = (serviceKey: string) => Promise<KeyOwner | 'no-such-key'>;

interface StringAttribute {
  readonly S?: string;
}

/** One eventually consistent GetItem (half a read unit); a revoked key counts as no key. */
export const keyReader =
  (dynamodb: AwsCall, tableName: string, timeoutMs: number): ReadKey =>
  async (serviceKey) => {
    const { pk, sk } = serviceKeyKey(serviceKeyHash(serviceKey));
    const answer = await dynamodb(
      'GetItem',
      { TableName: tableName, Key: { pk: { S: pk }, sk: { S: sk } } },
      timeoutMs,
    );
    const item = answer['Item'] as Record<string, StringAttribute> | undefined;
    const accountId = item?.['accountId']?.S;
    const keyId = item?.['keyId']?.S;
    if (!item || !accountId || !keyId || item['keyStatus']?.S !== 'active') return 'no-such-key';
    return { accountId, keyId, active: item['accountStatus']?.S === 'active' };
  };

const POSITIVE_MS = 60_000;
const NEGATIVE_MS = 10_000;
/** From this age on an entry is read again in the background, so that a busy key never waits for the store. */
const REFRESH_MS = 30_000;
/** After a failed read the store is asked again after this long at the earliest, in the background … */
const RETRY_MS = 1_000;
/** … and for so long nobody waits for it: what was known, if anything, is the answer at once. */
const DOWN_MS = 5_000;
const MAX_ENTRIES = 10_000;

interface Entry {
  /** `unavailable`: it was never read. */
  owner: Lookup;
  readAt: number;
  failedAt: number;
}

/**
 * Keys and their accounts, cached per process: 60 s when found (which bounds how long a revoked key or a suspended account
 * still passes), 10 s when not. While the store is down, what was known stays in force, and of the requests
 * of a key that is in use only the first waits. Reads of one key are shared.
 *
 * @param now milliseconds, monotonic
 */
export const cachedAccountLookup = (read: ReadKey, now: () => number = () => performance.now()) => {
  const entries = new Map<string, Entry>();
  const underWay = new Map<string, Promise<Lookup>>();

  const remember = (serviceKey: string, entry: Entry): void => {
    if (entries.size >= MAX_ENTRIES) entries.delete(entries.keys().next().value as string);
    entries.delete(serviceKey);
    entries.set(serviceKey, entry);
  };

  const refresh = (serviceKey: string): Promise<Lookup> => {
    const shared = underWay.get(serviceKey);
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
      .finally(() => underWay.delete(serviceKey));
    underWay.set(serviceKey, reading);
    return reading;
  };

  /** Synchronous when the answer is cached, which is the rule. Never rejects. */
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

import { serviceKeyKey } from '../../data/table/keys.ts';
import { secretHash } from '../../domain/accounts/issued-secret.ts';
import type { KeyOfAccess } from '../../domain/limits/access.ts';
import type { AwsCall } from '../aws/aws-json.ts';
import { cachedReads, type Unavailable } from './cached-reads.ts';

/** The store's data about a service key. */
export interface KeyOwner extends KeyOfAccess {
  readonly accountId: string;
  readonly keyId: string;
  readonly active: boolean;
  /** Milliseconds since 1970. From then on the key is no key, also where it is cached. */
  readonly validUntilMs?: number;
  /**
   * Set where a budget, pause or access rule of the account may stop requests, which the account's blocks tell. What happens to a request while they
   * cannot be read.
   */
  readonly withoutBlocks?: 'pass' | 'stop';
}

/** `unavailable`: the store did not respond and nothing is cached. The caller still forwards the request, as bypassed. */
export type Lookup = KeyOwner | 'no-such-key' | Unavailable;

/** Reads one service key from the table. Rejects when the store cannot be read. */
export type ReadKey = (serviceKey: string) => Promise<KeyOwner | 'no-such-key'>;

interface StringAttribute {
  readonly S?: string;
}

/** One eventually consistent GetItem (half a read unit). A revoked key counts as no key; a key that expires has its end. */
export const keyReader =
  (dynamodb: AwsCall, tableName: string, timeoutMs: number): ReadKey =>
  async (serviceKey) => {
    const { pk, sk } = serviceKeyKey(secretHash(serviceKey));
    const response = await dynamodb(
      'GetItem',
      { TableName: tableName, Key: { pk: { S: pk }, sk: { S: sk } } },
      timeoutMs,
    );
    const item = response['Item'] as Record<string, StringAttribute> | undefined;
    const accountId = item?.['accountId']?.S;
    const keyId = item?.['keyId']?.S;
    if (!item || !accountId || !keyId || item['keyStatus']?.S !== 'active') return 'no-such-key';
    const active = item['accountStatus']?.S === 'active';
    const withoutBlocks = item['withoutBlocks']?.S;
    const validUntil = item['validUntil']?.S;
    return {
      accountId,
      keyId,
      active,
      projectId: item['projectId']?.S,
      ownerRole: item['ownerRole']?.S as KeyOfAccess['ownerRole'],
      ...(validUntil !== undefined && { validUntilMs: Date.parse(validUntil) }),
      ...((withoutBlocks === 'pass' || withoutBlocks === 'stop') && { withoutBlocks }),
    };
  };

const KNOWN_MS = 60_000;
const UNKNOWN_MS = 10_000;
const REFRESH_MS = 30_000;

/**
 * Caches the owners of keys in the process: for 60 s if found (a revoked key or a suspended account may still pass for that time),
 * for 10 s if not.
 */
export const cachedAccountLookup = (
  read: ReadKey,
  now?: () => number,
): ((serviceKey: string) => Lookup | Promise<Lookup>) =>
  cachedReads(
    read,
    { maxAgeMs: (owner) => (owner === 'no-such-key' ? UNKNOWN_MS : KNOWN_MS), refreshMs: REFRESH_MS },
    now,
  );

export type AccountLookup = ReturnType<typeof cachedAccountLookup>;

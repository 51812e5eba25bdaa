import pMap from 'p-map';
import { type KeyOwner, openKeyOwners } from '../data/accounts/key-owners.ts';
import { BatchReadError } from '../data/table/batch.ts';
import type { Table } from '../data/table/table.ts';
import { isSecretHash } from '../domain/accounts/issued-secret.ts';
import { UnreadableItemError } from '../domain/errors.ts';
import type { CloseEvent, OpenEvent, UntrackedEvent, UsageEvent } from '../domain/usage/usage-event.ts';

const AT_ONCE = 16;

/**
 * Reads what belongs to some values in one batch. Where an item of the batch is unreadable or throttled, reads each value alone, so that
 * the item fails its own value only. While the table is down, all values fail at once.
 *
 * @returns why each value failed that could not be read
 */
export const readApart = async <T>(
  values: readonly T[],
  read: (values: readonly T[]) => Promise<void>,
): Promise<ReadonlyMap<T, unknown>> => {
  const failed = new Map<T, unknown>();
  try {
    await read(values);
  } catch (error) {
    if (!(error instanceof UnreadableItemError || error instanceof BatchReadError))
      return new Map(values.map((value) => [value, error]));
    const readOne = (value: T) => read([value]).catch((error: unknown) => void failed.set(value, error));
    await pMap(values, readOne, { concurrency: AT_ONCE });
  }
  return failed;
};

/** An event that could not be recorded. `permanent`: the same event would fail again. */
export interface FailedEvent {
  readonly kind: 'failed';
  readonly error: unknown;
  readonly permanent: boolean;
}

export const failure = (error: unknown, permanent = error instanceof UnreadableItemError): FailedEvent => ({
  kind: 'failed',
  error,
  permanent,
});

/** A usage event whose account is known. */
type Attributed<E extends UsageEvent> = Omit<E, 'unverifiedKeyHash' | 'accountId'> & { readonly accountId: string };
export type AccountOpenEvent = Attributed<OpenEvent>;
export type AccountCloseEvent = Attributed<CloseEvent>;
export type AccountRequestEvent = AccountOpenEvent | AccountCloseEvent;
export type AccountUntrackedEvent = Attributed<UntrackedEvent>;
export type AccountEvent = AccountRequestEvent | AccountUntrackedEvent;

export const isClose = (event: AccountRequestEvent): event is AccountCloseEvent => event.kind === 'close';

/** Identifies one request, or one report of untracked requests, among those of all accounts. */
export const nameOf = ({ accountId, requestId }: { readonly accountId: string; readonly requestId: string }): string =>
  `${accountId}#${requestId}`;

const attribute = (event: UsageEvent, owners: ReadonlyMap<string, KeyOwner>): AccountEvent | null => {
  const { unverifiedKeyHash, accountId, ...facts } = event;
  if (accountId !== null) return { ...facts, accountId } as AccountEvent;
  const owner = unverifiedKeyHash === undefined ? undefined : owners.get(unverifiedKeyHash);
  if (!owner) return null;
  // An event of version 0.1 names its account by the account key, and may have been sent with another key of the account.
  const keyId = ('keyId' in facts ? facts.keyId : null) ?? owner.keyId;
  return { ...facts, accountId: owner.accountId, keyId } as AccountEvent;
};

/**
 * Gives each event its account, in the order of the events; null where it names no account and its key belongs to nobody. Events whose
 * account was unknown at admission carry the hash of the service key instead. One batch read finds the owners of all such keys; an event
 * whose owner cannot be read is a failed one.
 */
export const attributeEvents = async (
  table: Table,
  events: readonly UsageEvent[],
): Promise<(AccountEvent | FailedEvent | null)[]> => {
  const unverified = events.flatMap(
    ({ accountId, unverifiedKeyHash }) => (accountId === null && unverifiedKeyHash) || [],
  );
  const hashes = [...new Set(unverified.filter(isSecretHash))];
  const owners = new Map<string, KeyOwner>();
  const failed = await readApart(hashes, async (some) => {
    if (some.length > 0) for (const [hash, owner] of await openKeyOwners(table).find(some)) owners.set(hash, owner);
  });
  return events.map((event) => {
    const { accountId, unverifiedKeyHash: hash } = event;
    return accountId === null && hash !== undefined && failed.has(hash)
      ? failure(failed.get(hash))
      : attribute(event, owners);
  });
};

import pMap from 'p-map';
import type { KeyOwner } from '../data/accounts/key-owners.ts';
import { isServiceKeyHash } from '../domain/accounts/account-key.ts';
import { type PlanName, plans } from '../domain/billing/plans.ts';
import type { TrackingGap } from '../domain/spend/tracking-gaps.ts';
import type { UsageEvent } from '../domain/usage/usage-event.ts';
import { type AccountCloseEvent, type AccountOpenEvent, type AccountUntrackedEvent, nameOf } from './events.ts';
import { type Fate, type LedgerAccess, recordBatch } from './record-batch.ts';

export interface RecorderAccess extends LedgerAccess {
  findKeyOwners(keyHashes: readonly string[]): Promise<ReadonlyMap<string, KeyOwner>>;
  findPlan(accountId: string): Promise<PlanName>;
  noteTrackingGap(accountId: string, reportId: string, range: TrackingGap): Promise<void>;
}

/**
 * `noted`: a report of requests that could not be tracked stands with its account. `unowned`: the event names no account, and
 * its key is nobody's. There is no one to count it for.
 */
export type EventResult = Fate | { readonly kind: 'noted' } | { readonly kind: 'unowned' };

type AccountRequestEvent = AccountOpenEvent | AccountCloseEvent;
type AccountEvent = AccountRequestEvent | AccountUntrackedEvent;

const PLANS_AT_ONCE = 16;
/** An account key has 34. */
const MAX_ACCOUNT_ID_CHARACTERS = 256;

/** The same event with the account that its unverified key belongs to; null where there is none. */
const settleAccount = (event: UsageEvent, owners: ReadonlyMap<string, KeyOwner>): AccountEvent | null => {
  const { unverifiedKeyHash, accountId, ...facts } = event;
  if (accountId !== null) return { ...facts, accountId } as AccountEvent;
  const owner = unverifiedKeyHash === undefined ? undefined : owners.get(unverifiedKeyHash);
  if (!owner) return null;
  // An event of version 0.1 names its account by the account key, and may have been sent with another key of the account.
  const keyId = ('keyId' in facts ? facts.keyId : null) ?? owner.keyId;
  return { ...facts, accountId: owner.accountId, keyId } as AccountEvent;
};

/** Events whose account was not known at admission carry the key's hash instead: found out here, in one read. */
const settleAccounts = async (
  events: readonly UsageEvent[],
  access: RecorderAccess,
): Promise<(AccountEvent | null)[]> => {
  const unverified = events.flatMap(
    ({ accountId, unverifiedKeyHash }) => (accountId === null && unverifiedKeyHash) || [],
  );
  const hashes = new Set(unverified.filter(isServiceKeyHash));
  const owners = hashes.size > 0 ? await access.findKeyOwners([...hashes]) : new Map<string, KeyOwner>();
  return events.map((event) => settleAccount(event, owners));
};

const failed = (error: unknown, permanent = false): EventResult => ({ kind: 'failed', error, permanent });

/** Names an account that no key of the table can hold. */
class ForeignAccountError extends Error {
  override readonly name = 'ForeignAccountError';
}

const canBeNamed = (accountId: string): boolean =>
  accountId.length <= MAX_ACCOUNT_ID_CHARACTERS && accountId.isWellFormed();

const noteTrackingGap =
  (access: RecorderAccess) =>
  async ({ accountId, requestId, from, to, requests }: AccountUntrackedEvent): Promise<EventResult> => {
    if (!canBeNamed(accountId)) return failed(new ForeignAccountError(), true);
    try {
      await access.noteTrackingGap(accountId, requestId, { from, to, requests });
      return { kind: 'noted' };
    } catch (error) {
      return failed(error);
    }
  };

/**
 * Records a batch of events. What fails for one account does not touch the others.
 *
 * @returns the result of each event, in their order; never rejects
 */
export const recordEvents =
  (access: RecorderAccess) =>
  async (events: readonly UsageEvent[]): Promise<EventResult[]> => {
    const byAccount = new Map<string, EventResult>();
    const byRequest = new Map<string, EventResult>();
    let settled: (AccountEvent | null)[];
    try {
      settled = await settleAccounts(events, access);
      const retentionDays = new Map<string, number>();
      const known = settled.filter((event) => event !== null);
      const reports = known.filter((event) => event.kind === 'untracked');
      for (const report of reports) byRequest.set(nameOf(report), await noteTrackingGap(access)(report));
      const requests = known.filter((event) => event.kind !== 'untracked');
      const accountIds = [...new Set(requests.map(({ accountId }) => accountId))];
      await pMap(
        accountIds,
        async (accountId) => {
          try {
            if (!canBeNamed(accountId)) byAccount.set(accountId, failed(new ForeignAccountError(), true));
            else retentionDays.set(accountId, plans[await access.findPlan(accountId)].requestRetentionDays);
          } catch (error) {
            byAccount.set(accountId, failed(error));
          }
        },
        { concurrency: PLANS_AT_ONCE },
      );
      const recordable = requests.filter(({ accountId }) => retentionDays.has(accountId));
      const results = await recordBatch(access)(recordable, retentionDays);
      for (const [name, result] of results) byRequest.set(name, result);
    } catch (error) {
      return events.map(() => failed(error));
    }
    return settled.map((event) =>
      event
        ? (byRequest.get(nameOf(event)) ?? byAccount.get(event.accountId) ?? failed(undefined))
        : { kind: 'unowned' },
    );
  };

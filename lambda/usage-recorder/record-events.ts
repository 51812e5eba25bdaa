import type { KeyOwner } from '../data/key-owners.ts';
import { isWellFormedAccountKey } from '../domain/account-key.ts';
import { type PlanName, plans } from '../domain/plans.ts';
import type { UsageEvent } from '../domain/usage-event.ts';
import { mapConcurrently } from './concurrently.ts';
import type { AccountCloseEvent, AccountOpenEvent } from './events.ts';
import { type Fate, type LedgerAccess, recordAccountEvents } from './record-account.ts';

export interface RecorderAccess extends LedgerAccess {
  findKeyOwners(serviceKeys: readonly string[]): Promise<ReadonlyMap<string, KeyOwner>>;
  findPlan(accountId: string): Promise<PlanName>;
}

/** `unowned`: the event names no account, and its key is nobody's. There is no one to count it for. */
export type EventFate = Fate | { readonly kind: 'unowned' };

type AccountEvent = AccountOpenEvent | AccountCloseEvent;

const ACCOUNTS_AT_ONCE = 16;

/** The same event with the account that its unverified key belongs to; null where there is none. */
const settleAccount = (event: UsageEvent, owners: ReadonlyMap<string, KeyOwner>): AccountEvent | null => {
  const { unverifiedKey, accountId, ...facts } = event;
  if (accountId !== null) return { ...facts, accountId } as AccountEvent;
  const owner = unverifiedKey === undefined ? undefined : owners.get(unverifiedKey);
  return owner ? ({ ...facts, ...owner } as AccountEvent) : null;
};

/** Events whose account was not known at admission carry the key instead: found out here, in one read. */
const settleAccounts = async (
  events: readonly UsageEvent[],
  access: RecorderAccess,
): Promise<(AccountEvent | null)[]> => {
  const unverified = events.flatMap(({ accountId, unverifiedKey }) => (accountId === null && unverifiedKey) || []);
  const keys = new Set(unverified.filter(isWellFormedAccountKey));
  const owners = keys.size > 0 ? await access.findKeyOwners([...keys]) : new Map<string, KeyOwner>();
  return events.map((event) => settleAccount(event, owners));
};

const failed = (error: unknown): EventFate => ({ kind: 'failed', error, permanent: false });

/**
 * Records a batch of events. Accounts are independent of one another: what fails for one does not touch the others.
 *
 * @returns the fate of each event, in their order; never rejects
 */
export const recordEvents =
  (access: RecorderAccess) =>
  async (events: readonly UsageEvent[]): Promise<EventFate[]> => {
    let settled: (AccountEvent | null)[];
    try {
      settled = await settleAccounts(events, access);
    } catch (error) {
      return events.map(() => failed(error));
    }
    const byAccount = Map.groupBy(
      settled.filter((event) => event !== null),
      ({ accountId }) => accountId,
    );
    const recordAccount = recordAccountEvents(access);
    const fates = new Map<string, (requestId: string) => EventFate>();
    await mapConcurrently([...byAccount], ACCOUNTS_AT_ONCE, async ([accountId, ofAccount]) => {
      try {
        const { requestRetentionDays } = plans[await access.findPlan(accountId)];
        const found = await recordAccount(accountId, ofAccount, requestRetentionDays);
        fates.set(accountId, (requestId) => found.get(requestId) ?? { kind: 'known' });
      } catch (error) {
        fates.set(accountId, () => failed(error));
      }
    });
    return settled.map((event) =>
      event ? (fates.get(event.accountId)?.(event.requestId) ?? failed(undefined)) : { kind: 'unowned' },
    );
  };

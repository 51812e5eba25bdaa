import QuickLRU from 'quick-lru';
import type { AccountTerms } from '../data/accounts/account-terms.ts';
import type { AccountJob } from '../domain/limits/account-job.ts';
import type { SendMessage } from '../integrations/queue-sender.ts';
import { type Observer, tasksFor } from './observers.ts';

interface JudgingRequests {
  readonly accountTerms: { readonly find: (accountId: string) => Promise<Pick<AccountTerms, 'hasBlocks'>> };
  readonly send: SendMessage<AccountJob>;
  readonly now?: () => number;
}

/** An account is judged no more often than this on behalf of one recorder process. */
const JUDGING_INTERVAL_MS = 2_000;
const MAX_ACCOUNTS = 10_000;

/**
 * Has the budgets of accounts judged soon after their spend changed: the first change at once, further ones two seconds after it
 * together. The evaluator judges every account each minute in any case.
 */
export const budgetJudging = ({ accountTerms, send, now = Date.now }: JudgingRequests): Observer => {
  /** Until when a judging that was requested will see every change, in epoch milliseconds, by account. */
  const covered = new QuickLRU<string, number>({ maxSize: MAX_ACCOUNTS });

  const request = async (accountId: string, oldest: string): Promise<void> => {
    const at = now();
    const coveredUntil = covered.get(accountId) ?? 0;
    // A delayed message is on its way: it will be judged with this change.
    if (coveredUntil > at) return;
    try {
      if (!(await accountTerms.find(accountId)).hasBlocks) return;
      const isFirst = at - coveredUntil >= JUDGING_INTERVAL_MS;
      const delayMs = isFirst ? 0 : JUDGING_INTERVAL_MS;
      covered.set(accountId, at + delayMs);
      await send({ accountId, since: new Date(at + delayMs).toISOString(), oldest }, delayMs / 1_000);
    } catch (error) {
      covered.delete(accountId);
      throw error;
    }
  };

  return {
    name: 'budget judging',
    observe: ({ records }) => {
      const oldest = new Map<string, string>();
      for (const { accountId, startedAt } of records)
        if (startedAt < (oldest.get(accountId) ?? '~')) oldest.set(accountId, startedAt);
      return tasksFor(oldest, ([accountId, startedAt]) => request(accountId, startedAt));
    },
  };
};

import type { Logger } from '@aws-lambda-powertools/logger';
import pMap from 'p-map';
import QuickLRU from 'quick-lru';
import type { AccountJob } from '../domain/limits/account-job.ts';
import type { SendMessage } from '../integrations/queue-sender.ts';
import type { Recorder } from './recorder.ts';

export interface JudgingRequests {
  /** Whether the account has budgets that stop requests. */
  readonly hasBudgets: (accountId: string) => Promise<boolean>;
  readonly send: SendMessage<AccountJob>;
  readonly now: () => number;
  readonly logger: Pick<Logger, 'error'>;
}

/** An account is judged no more often than this on behalf of one recorder process. */
const JUDGING_INTERVAL_MS = 2_000;
const MAX_ACCOUNTS = 10_000;
const AT_ONCE = 16;

/**
 * A recorder that has the budgets of accounts judged soon after their spend changed: the first change at once, further ones two seconds
 * after it together. A failure is logged and changes no result; the evaluator judges every account each minute.
 */
export const requestJudging = (record: Recorder, { hasBudgets, send, now, logger }: JudgingRequests): Recorder => {
  /** Until when a judging that was requested will see every change, in epoch milliseconds, by account. */
  const covered = new QuickLRU<string, number>({ maxSize: MAX_ACCOUNTS });

  const request = async (accountId: string, oldest: string): Promise<void> => {
    const at = now();
    const coveredUntil = covered.get(accountId) ?? 0;
    // A delayed message is on its way: it will be judged with this change.
    if (coveredUntil > at) return;
    try {
      if (!(await hasBudgets(accountId))) return;
      const isFirst = at - coveredUntil >= JUDGING_INTERVAL_MS;
      const delayMs = isFirst ? 0 : JUDGING_INTERVAL_MS;
      covered.set(accountId, at + delayMs);
      await send({ accountId, since: new Date(at + delayMs).toISOString(), oldest }, delayMs / 1_000);
    } catch (error) {
      covered.delete(accountId);
      logger.error('Budgets not judged at once', { errorName: (error as Error).name });
    }
  };

  return async (events) => {
    const results = await record(events);
    const oldest = new Map<string, string>();
    for (const result of results) {
      if (result.kind !== 'recorded') continue;
      const { accountId, startedAt } = result.record;
      if (startedAt < (oldest.get(accountId) ?? '~')) oldest.set(accountId, startedAt);
    }
    await pMap(oldest, ([accountId, startedAt]) => request(accountId, startedAt), { concurrency: AT_ONCE });
    return results;
  };
};

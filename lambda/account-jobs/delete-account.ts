import type { Logger } from '@aws-lambda-powertools/logger';
import type { AccountDeletions } from '../data/accounts/account-deletions.ts';
import type { openAccountHolds } from '../data/accounts/account-holds.ts';
import type { AccountItems } from '../data/accounts/delete-items.ts';
import { orUndefined } from '../domain/errors.ts';
import { objectPrefixes } from '../domain/object-keys.ts';
import type { ObjectStore } from '../integrations/object-store.ts';

interface DeletionDependencies {
  readonly deletions: Pick<AccountDeletions, 'find' | 'write'>;
  readonly holds: Pick<ReturnType<typeof openAccountHolds>, 'cancel'>;
  readonly items: AccountItems;
  readonly markDeleted: (accountId: string, now: Date) => Promise<void>;
  readonly objects: Pick<ObjectStore, 'deleteAll'>;
  /** Between two steps. */
  readonly pauseMs: number;
  readonly now: () => Date;
  readonly logger: Pick<Logger, 'info'>;
}

/**
 * Goes on with the deletion of an account, once its time has come:
 *
 * 1. It cannot be cancelled any more, its keys are refused, and the recorder drops its events. Then it waits: caches know the account for a
 *    minute, and what is in flight ends within a quarter of an hour.
 * 2. Everything is deleted, in as many runs as it takes. Each goes on where the one before was.
 * 3. After another wait it looks again, until a whole pass finds nothing: something in flight may have written meanwhile.
 *
 * Each step can be repeated, so a crash anywhere costs a repetition.
 */
export const deleteAccount =
  ({ deletions, holds, items, markDeleted, objects, pauseMs, now, logger }: DeletionDependencies) =>
  async (accountId: string, isLate: () => boolean): Promise<void> => {
    const deletion = await deletions.find(accountId);
    if (deletion === undefined || deletion.deletesAt > now().toISOString()) return;
    const later = () => new Date(now().getTime() + pauseMs).toISOString();

    // From here on nobody can cancel it, and somebody may just have.
    if (deletion.phase === 'waiting' && !(await deletions.write(accountId, { phase: 'closing' }, now().toISOString())))
      return;
    if (deletion.phase !== 'deleting') {
      await markDeleted(accountId, now());
      await orUndefined(holds.cancel(accountId, now().toISOString()));
      await deletions.write(accountId, { phase: 'deleting' }, later());
      return logger.info('account closed', { accountId });
    }

    for (const prefix of objectPrefixes(accountId)) await objects.deleteAll(prefix);
    const { removed, next } = await items.removeAll(accountId, now(), isLate, deletion.next ?? null);
    const found = removed > 0 || deletion.found === true;
    logger.info('account deleted in part', { accountId, removed, next });
    if (next !== null) await deletions.write(accountId, { failures: 0, next, found }, now().toISOString());
    else if (found) await deletions.write(accountId, { failures: 0, next, found: false }, later());
    else {
      await items.finish(accountId);
      logger.info('account deleted', { accountId });
    }
  };

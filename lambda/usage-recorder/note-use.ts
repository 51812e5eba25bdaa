import type { Logger } from '@aws-lambda-powertools/logger';
import pMap from 'p-map';
import { uuidv7 } from 'uuidv7';
import { openKeyUsage } from '../data/accounts/key-usage.ts';
import { openAlerts } from '../data/alerts/alerts.ts';
import { openBillingAccounts } from '../data/billing/billing-accounts.ts';
import { openPeriodUsage } from '../data/billing/billing-usage.ts';
import type { Table } from '../data/table/table.ts';
import type { RequestRecord } from '../domain/spend/request-record.ts';
import { openPlanNotices } from './plan-notices.ts';
import type { Recorder } from './recorder.ts';

export interface UseNotes {
  readonly noteKey: (accountId: string, keyId: string, usedAt: string) => Promise<void>;
  readonly checkPlan: (accountId: string, recordedFor?: string) => Promise<void>;
  readonly logger: Pick<Logger, 'error'>;
}

const AT_ONCE = 16;

/**
 * A recorder that also notes when keys were last used and notifies accounts that are near the limit of their plan. A failure of either
 * is logged and changes no result; the next batch tries again.
 */
export const noteUse =
  (record: Recorder, { noteKey, checkPlan, logger }: UseNotes): Recorder =>
  async (events) => {
    const results = await record(events);
    const records = results.flatMap((result) => (result.kind === 'recorded' ? [result.record] : []));
    const logFailure = (message: string, work: Promise<void>) =>
      work.catch((error: Error) => logger.error(message, { errorName: error.name }));
    await pMap(
      latestBy(records, ({ keyId }) => keyId),
      ({ accountId, keyId, startedAt }) =>
        logFailure('Key usage not noted', noteKey(accountId, keyId as string, startedAt)),
      { concurrency: AT_ONCE },
    );
    await pMap(
      latestBy(records, ({ accountId }) => accountId),
      ({ accountId, startedAt }) => logFailure('Plan usage not checked', checkPlan(accountId, startedAt)),
      { concurrency: AT_ONCE },
    );
    return results;
  };

/** The latest record of each name; records without a name are left out. */
const latestBy = (records: readonly RequestRecord[], nameOf: (record: RequestRecord) => string | null) => {
  const latest = new Map<string, RequestRecord>();
  for (const record of records) {
    const name = nameOf(record);
    if (name !== null && (latest.get(name)?.startedAt ?? '') < record.startedAt) latest.set(name, record);
  }
  return latest.values();
};

export const openUseNotes = (table: Table, logger: Pick<Logger, 'error'>): UseNotes => ({
  noteKey: openKeyUsage(table).note,
  checkPlan: openPlanNotices({
    findAccount: openBillingAccounts(table).find,
    usage: openPeriodUsage(table),
    notify: openAlerts(table).notify,
    newAlertId: uuidv7,
    now: () => new Date(),
  }),
  logger,
});

import { Logger } from '@aws-lambda-powertools/logger';
import type { ScheduledHandler } from 'aws-lambda';
import { openAccountDeletions } from '../data/accounts/account-deletions.ts';
import { openAccountHolds } from '../data/accounts/account-holds.ts';
import { openArchives } from '../data/accounts/archives.ts';
import { markDeleted, openAccountItems } from '../data/accounts/delete-items.ts';
import { openDayExports } from '../data/exports/day-exports.ts';
import { openDestinations } from '../data/exports/destinations.ts';
import { openBillConnections } from '../data/reconciliation/bill-connections.ts';
import { openBills } from '../data/reconciliation/bills.ts';
import { openContent } from '../data/reports/open-content.ts';
import { openReports } from '../data/reports/reports.ts';
import { openRequests } from '../data/requests/requests.ts';
import { openTable } from '../data/table/table.ts';
import { ARCHIVE_FILE, archiveObjectKey } from '../domain/object-keys.ts';
import { accountJobsEnvironment } from '../environment.ts';
import { openBillAccess } from '../integrations/bills/bill-sources.ts';
import { openObjectStore } from '../integrations/object-store.ts';
import { openStripe } from '../integrations/stripe-billing.ts';
import { cognitoClient, userDirectory } from '../integrations/user-directory.ts';
import { webhookAccess, webhookPoster } from '../integrations/webhook.ts';
import { openArchiveFiles } from './archive-files.ts';
import { deleteAccount } from './delete-account.ts';
import { failReport, makeReport } from './make-report.ts';
import { failBill, readBill } from './read-bill.ts';
import { runJobs } from './run-jobs.ts';
import { sendDestination } from './send-destination.ts';
import { failArchive, writeArchive } from './write-archive.ts';

const environment = accountJobsEnvironment.parse(process.env);
const logger = new Logger({ serviceName: 'account-jobs' });
const table = openTable(environment.TABLE_NAME);
const objects = openObjectStore(environment.OBJECT_BUCKET);
const requests = openRequests(table, Date.now, objects);
const deletions = openAccountDeletions(table);
const archives = openArchives(table);
const connections = openBillConnections(table);
const reports = openReports(table);
const { credentials, sourceOf } = openBillAccess(environment);
const now = () => new Date();

const remove = deleteAccount({
  deletions,
  holds: openAccountHolds(table),
  items: openAccountItems(table, {
    deleteUser: userDirectory(cognitoClient(), environment.USER_POOL_ID).deleteUser,
    deleteBillCredential: credentials.remove,
    deleteCustomer: openStripe(environment).deleteCustomer,
    abortArchive: async ({ accountId, archiveId, checkpoint }) => {
      const { uploadId } = (checkpoint ?? {}) as { readonly uploadId?: string };
      if (uploadId === undefined) return;
      await objects.abortUpload(archiveObjectKey(String(accountId), String(archiveId), ARCHIVE_FILE), uploadId);
    },
  }),
  markDeleted: (accountId, at) => markDeleted(table, accountId, at),
  objects,
  pauseMs: environment.DELETION_PAUSE_SECONDS * 1_000,
  now,
  logger,
});

const run = runJobs(
  table,
  {
    deletion: {
      run: (accountId, _, isLate) => remove(accountId, isLate),
      putOff: async (accountId, _, dueAt) => {
        const failures = ((await deletions.find(accountId))?.failures ?? 0) + 1;
        await deletions.write(accountId, { failures }, dueAt(failures).toISOString());
        return failures;
      },
    },
    bill: {
      run: readBill({
        bills: openBills(table),
        connections,
        credentials,
        sourceOf,
        now,
      }),
      putOff: failBill({ connections }),
    },
    report: {
      run: makeReport({ reports, readContent: openContent(table, requests, logger, now), now }),
      putOff: failReport({ reports, now }),
    },
    destination: sendDestination({
      destinations: openDestinations(table),
      dayExports: openDayExports(table),
      requests,
      post: webhookPoster(webhookAccess(environment.WEBHOOK_TARGETS)),
      now,
    }),
    archive: {
      run: writeArchive({ archives, files: openArchiveFiles(table, requests), objects, now, logger }),
      putOff: failArchive({ archives, objects }),
    },
  },
  logger,
  now,
);

/** Runs every minute. Deletes accounts after their grace period, writes archives, reads bills, makes reports, sends data to destinations. */
export const handler: ScheduledHandler = async (_event, context) => {
  logger.addContext(context);
  await run(() => context.getRemainingTimeInMillis());
};

import { Logger } from '@aws-lambda-powertools/logger';
import type { ScheduledHandler } from 'aws-lambda';
import { openAccountDeletions } from '../data/accounts/account-deletions.ts';
import { openAccountHolds } from '../data/accounts/account-holds.ts';
import { type AccountJob, dueJobs } from '../data/accounts/account-jobs.ts';
import { openArchives } from '../data/accounts/archives.ts';
import { markDeleted, openAccountItems } from '../data/accounts/delete-items.ts';
import { openDayExports } from '../data/exports/day-exports.ts';
import { openDestinations } from '../data/exports/destinations.ts';
import { openBillConnections } from '../data/reconciliation/bill-connections.ts';
import { openBills } from '../data/reconciliation/bills.ts';
import { openContent } from '../data/reports/open-content.ts';
import { openReports } from '../data/reports/reports.ts';
import { openRequests } from '../data/requests/requests.ts';
import { archiveKey, billConnectionKey, destinationKey, reportKey } from '../data/table/keys.ts';
import { openTable } from '../data/table/table.ts';
import { ARCHIVE_FILE, archiveObjectKey } from '../domain/object-keys.ts';
import { billedProviders } from '../domain/reconciliation/billed-providers.ts';
import { accountJobsEnvironment } from '../environment.ts';
import { openBillAccess } from '../integrations/bills/bill-sources.ts';
import { openObjectStore } from '../integrations/object-store.ts';
import { openStripe } from '../integrations/open-stripe.ts';
import { cognitoClient, userDirectory } from '../integrations/user-directory.ts';
import { postWebhook, webhookAccess } from '../integrations/webhook.ts';
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
const deletions = openAccountDeletions(table);
const archives = openArchives(table);
const { credentials, sourceOf } = openBillAccess(environment);
const connections = openBillConnections(table);
const stripe = openStripe(environment);
const { deleteUser } = userDirectory(cognitoClient(), environment.USER_POOL_ID);
const now = () => new Date();
const archiveIdOf = ({ accountId, sk }: AccountJob) => sk.slice(archiveKey(accountId, '').sk.length);

const remove = deleteAccount({
  deletions,
  holds: openAccountHolds(table),
  items: openAccountItems(table, {
    deleteUser,
    deleteBillCredential: credentials.remove,
    deleteCustomer: stripe.deleteCustomer,
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
const requests = openRequests(table, Date.now, objects);
const write = writeArchive({
  archives,
  files: openArchiveFiles(table, requests),
  objects,
  now,
  logger,
});
const read = readBill({
  bills: openBills(table),
  connections,
  credentials,
  sourceOf: (provider) => billedProviders.filter((label) => label === provider).map(sourceOf)[0],
  now,
});
const putOffBill = failBill({ connections });
const providerOf = ({ accountId, sk }: AccountJob) => sk.slice(billConnectionKey(accountId, '').sk.length);
const reports = openReports(table);
const makeOne = makeReport({ reports, readContent: openContent(table, requests, logger, now), now });
const putOffReport = failReport({ reports });
const reportIdOf = ({ accountId, sk }: AccountJob) => sk.slice(reportKey(accountId, '').sk.length);
const access = webhookAccess(environment.WEBHOOK_TARGETS);
const sending = sendDestination({
  destinations: openDestinations(table),
  dayExports: openDayExports(table),
  requests,
  post: (target, body, at) => postWebhook(target, body, at, access),
  now,
});
const destinationIdOf = ({ accountId, sk }: AccountJob) => sk.slice(destinationKey(accountId, '').sk.length);
const putOffArchive = failArchive({ archives, objects });

const run = runJobs({
  dueJobs: (at) => dueJobs(table, at),
  run: {
    deletion: ({ accountId }, isLate) => remove(accountId, isLate),
    bill: (job) => read(job.accountId, providerOf(job)),
    report: (job) => makeOne(job.accountId, reportIdOf(job)),
    destination: (job, isLate) => sending.send(job.accountId, destinationIdOf(job), isLate),
    archive: (job, isLate) => write(job.accountId, archiveIdOf(job), isLate),
  },
  postpone: async (job, error, dueAt) => {
    if (job.kind === 'archive') return putOffArchive(job.accountId, archiveIdOf(job), error, dueAt);
    if (job.kind === 'bill') return putOffBill(job.accountId, providerOf(job), dueAt);
    if (job.kind === 'report') return putOffReport(job.accountId, reportIdOf(job), dueAt);
    if (job.kind === 'destination') return sending.putOff(job.accountId, destinationIdOf(job), error);
    const failures = ((await deletions.find(job.accountId))?.failures ?? 0) + 1;
    await deletions.write(job.accountId, { failures }, dueAt(failures).toISOString());
    return failures;
  },
  now,
  logger,
});

/** Runs every minute: deletes accounts whose grace is over, writes archives, reads bills, makes reports, and sends destinations what is new. */
export const handler: ScheduledHandler = async (_event, context) => {
  logger.addContext(context);
  await run(() => context.getRemainingTimeInMillis());
};

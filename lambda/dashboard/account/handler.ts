import { Logger } from '@aws-lambda-powertools/logger';
import { uuidv7 } from 'uuidv7';
import * as z from 'zod/mini';
import { openAccountDeletions } from '../../data/accounts/account-deletions.ts';
import { openAccounts } from '../../data/accounts/accounts.ts';
import { openArchives } from '../../data/accounts/archives.ts';
import { openAuditLog } from '../../data/accounts/audit-log.ts';
import { openMembers } from '../../data/accounts/members.ts';
import { openTable } from '../../data/table/table.ts';
import { type AccountEnvironment, mailEnvironment } from '../../environment.ts';
import { dashboardEnvironment } from '../../http/dashboard-environment.ts';
import { httpStack } from '../../http/http-stack.ts';
import { route } from '../../http/operation.ts';
import { appClient } from '../../integrations/app-client.ts';
import { openMail } from '../../integrations/mail.ts';
import { openObjectStore } from '../../integrations/object-store.ts';
import { cognitoClient } from '../../integrations/user-directory.ts';
import { userSessions } from '../../integrations/user-sessions.ts';
import { stackOptions } from '../stack-options.ts';
import { createArchive, linkArchive, listArchives } from './archives.ts';
import { cancelDeletion, readDeletion, requestDeletion } from './deletion.ts';
import * as operations from './operations.ts';

const environment = z
  .extend(dashboardEnvironment, {
    USER_POOL_ID: z.string().check(z.minLength(1)),
    OBJECT_BUCKET: z.string().check(z.minLength(1)),
    DELETION_GRACE_SECONDS: z.pipe(z.string().check(z.regex(/^\d{1,9}$/)), z.transform(Number)),
    ...mailEnvironment.shape,
  } satisfies Record<Exclude<keyof AccountEnvironment, keyof typeof dashboardEnvironment.shape>, z.ZodMiniType>)
  .parse(process.env);

const { USER_POOL_ID, USER_POOL_CLIENT_ID } = environment;
const logger = new Logger({ serviceName: 'dashboard-account' });
const table = openTable(environment.TABLE_NAME);
const cognito = cognitoClient();
const dependencies = {
  deletions: openAccountDeletions(table),
  archives: openArchives(table),
  audit: openAuditLog(table),
  accounts: openAccounts(table),
  members: openMembers(table),
  sessions: userSessions(cognito, USER_POOL_ID, appClient(cognito, USER_POOL_ID, USER_POOL_CLIENT_ID)),
  objects: openObjectStore(environment.OBJECT_BUCKET),
  sendMail: openMail(environment),
  dashboardUrl: environment.DASHBOARD_URL,
  graceSeconds: environment.DELETION_GRACE_SECONDS,
  newId: uuidv7,
  now: () => new Date(),
  logger,
};

/** Everything under /api/account. */
export const handler = httpStack(
  [
    route(operations.readDeletion, readDeletion(dependencies)),
    route(operations.requestDeletion, requestDeletion(dependencies)),
    route(operations.cancelDeletion, cancelDeletion(dependencies)),
    route(operations.createArchive, createArchive(dependencies)),
    route(operations.listArchives, listArchives(dependencies)),
    route(operations.linkArchive, linkArchive(dependencies)),
  ],
  stackOptions(logger, table, environment),
);

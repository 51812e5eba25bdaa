import { randomBytes } from 'node:crypto';
import { Logger } from '@aws-lambda-powertools/logger';
import * as z from 'zod/mini';
import { openMembers } from '../../data/accounts/members.ts';
import { openServiceKeys } from '../../data/accounts/service-keys.ts';
import { openUsers } from '../../data/accounts/users.ts';
import { openTable } from '../../data/table/table.ts';
import { type MembersEnvironment, mailEnvironment } from '../../environment.ts';
import { dashboardEnvironment } from '../../http/dashboard-environment.ts';
import { httpStack } from '../../http/http-stack.ts';
import { route } from '../../http/operation.ts';
import { appClient } from '../../integrations/app-client.ts';
import { openMail } from '../../integrations/mail.ts';
import { cognitoClient, userDirectory } from '../../integrations/user-directory.ts';
import { userSessions } from '../../integrations/user-sessions.ts';
import { stackOptions } from '../stack-options.ts';
import { inviteMember, listInvitations, resendInvitation, revokeInvitation } from './invitations.ts';
import { changeRole, leaveAccount, listMembers, removeMember, transferOwnership } from './manage-members.ts';
import * as operations from './operations.ts';

const environment = z
  .extend(dashboardEnvironment, {
    USER_POOL_ID: z.string().check(z.minLength(1)),
    ...mailEnvironment.shape,
  } satisfies Record<Exclude<keyof MembersEnvironment, keyof typeof dashboardEnvironment.shape>, z.ZodMiniType>)
  .parse(process.env);

const logger = new Logger({ serviceName: 'dashboard-members' });
const table = openTable(environment.TABLE_NAME);
const cognito = cognitoClient();
const dependencies = {
  members: openMembers(table),
  keys: openServiceKeys(table),
  users: openUsers(table),
  directory: userDirectory(cognito, environment.USER_POOL_ID),
  sessions: userSessions(
    cognito,
    environment.USER_POOL_ID,
    appClient(cognito, environment.USER_POOL_ID, environment.USER_POOL_CLIENT_ID),
  ),
  sendMail: openMail(environment),
  dashboardUrl: environment.DASHBOARD_URL,
  randomBytes,
  now: () => new Date(),
  logger,
};

/** Everything under /api/members and /api/invitations. */
export const handler = httpStack(
  [
    route(operations.listMembers, listMembers(dependencies)),
    route(operations.leaveAccount, leaveAccount(dependencies)),
    route(operations.changeRole, changeRole(dependencies)),
    route(operations.removeMember, removeMember(dependencies)),
    route(operations.transferOwnership, transferOwnership(dependencies)),
    route(operations.listInvitations, listInvitations(dependencies)),
    route(operations.inviteMember, inviteMember(dependencies)),
    route(operations.resendInvitation, resendInvitation(dependencies)),
    route(operations.revokeInvitation, revokeInvitation(dependencies)),
  ],
  stackOptions(logger, table, environment),
);

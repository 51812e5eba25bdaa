import { randomBytes, randomInt } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '@aws-lambda-powertools/logger';
import { uuidv7 } from 'uuidv7';
import type * as z from 'zod/mini';
import { openAccountDeletions } from '../../data/accounts/account-deletions.ts';
import { openAccounts } from '../../data/accounts/accounts.ts';
import { openAddressCodes } from '../../data/accounts/address-codes.ts';
import { openApiTokens, openApiTokenUse } from '../../data/accounts/api-tokens.ts';
import { openAuditLog } from '../../data/accounts/audit-log.ts';
import { openMembers } from '../../data/accounts/members.ts';
import { openProjects } from '../../data/accounts/projects.ts';
import { openServiceKeys } from '../../data/accounts/service-keys.ts';
import { openSignOns } from '../../data/accounts/sign-ons.ts';
import { openUsers } from '../../data/accounts/users.ts';
import type { Table } from '../../data/table/table.ts';
import { newAccountKey, newApiToken, newCode } from '../../domain/accounts/issued-secret.ts';
import { SIGN_ON_CALLBACK } from '../../domain/accounts/sign-on.ts';
import type { identityEnvironment } from '../../environment.ts';
import { authenticator } from '../../integrations/authenticate.ts';
import { appClient } from '../../integrations/cognito.ts';
import { openMail } from '../../integrations/mail.ts';
import { authorizeUrl, codeExchange, identityLinker, linkTokenReader } from '../../integrations/sign-on.ts';
import { tokenVerifier } from '../../integrations/token-verifier.ts';
import { cognitoClient, userDirectory } from '../../integrations/user-directory.ts';
import { userSessions } from '../../integrations/user-sessions.ts';
import { userTotp } from '../../integrations/user-totp.ts';
import type { Clock } from './even-timing.ts';

/** The repositories and services of the function `identity`. */
export const openParts = (
  table: Table,
  environment: z.infer<typeof identityEnvironment>,
  logger: Pick<Logger, 'error' | 'warn'>,
) => {
  const { USER_POOL_ID, USER_POOL_CLIENT_ID } = environment;
  const cognito = cognitoClient();
  const client = appClient(cognito, USER_POOL_ID, USER_POOL_CLIENT_ID);
  const verifyToken = tokenVerifier(USER_POOL_ID, USER_POOL_CLIENT_ID, environment.USER_POOL_JWKS_URI);
  const endpoint = {
    origin: environment.SIGN_ON_ORIGIN,
    redirectUri: `${environment.DASHBOARD_URL}${SIGN_ON_CALLBACK}`,
    clientId: USER_POOL_CLIENT_ID,
    clientSecret: client.secret,
  };
  return {
    accounts: openAccounts(table),
    audit: openAuditLog(table),
    codes: openAddressCodes(table),
    deletions: openAccountDeletions(table),
    keys: openServiceKeys(table),
    members: openMembers(table),
    projects: openProjects(table),
    signOns: openSignOns(table),
    tokens: openApiTokens(table),
    use: openApiTokenUse(table, Date.now),
    users: openUsers(table),
    directory: userDirectory(cognito, USER_POOL_ID),
    sessions: userSessions(cognito, USER_POOL_ID, client),
    totp: userTotp(cognito, USER_POOL_ID, authenticator(cognito, USER_POOL_ID, client)),
    sendMail: openMail(environment),
    dashboardUrl: environment.DASHBOARD_URL,
    registration: environment.REGISTRATION,
    graceSeconds: environment.DELETION_GRACE_SECONDS,
    providers: environment.SIGN_ON_PROVIDERS,
    urlOf: (provider: string) => authorizeUrl(endpoint, provider),
    exchange: codeExchange(endpoint),
    verifyToken,
    readLinkToken: linkTokenReader(verifyToken),
    linkIdentity: identityLinker(cognito, USER_POOL_ID),
    newId: uuidv7,
    newAccountKey: () => newAccountKey(randomBytes),
    newApiToken: () => newApiToken(randomBytes),
    newCode: () => newCode(randomBytes),
    randomBytes,
    randomInt: (max: number) => randomInt(max),
    clock: { nowMs: () => performance.now(), pause } as Clock,
    now: () => new Date(),
    logger,
  };
};

export type IdentityParts = ReturnType<typeof openParts>;

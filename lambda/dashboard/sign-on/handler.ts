import { randomUUID } from 'node:crypto';
import { Logger } from '@aws-lambda-powertools/logger';
import * as z from 'zod/mini';
import { openAccounts } from '../../data/accounts/accounts.ts';
import { openAuditLog } from '../../data/accounts/audit-log.ts';
import { openSignOns } from '../../data/accounts/sign-ons.ts';
import { openUsers } from '../../data/accounts/users.ts';
import { openTable } from '../../data/table/table.ts';
import { SIGN_ON_CALLBACK } from '../../domain/accounts/sign-on.ts';
import { mailEnvironment, type SignOnEnvironment } from '../../environment.ts';
import { dashboardEnvironment } from '../../http/dashboard-environment.ts';
import { httpStack } from '../../http/http-stack.ts';
import { route } from '../../http/operation.ts';
import { appClient } from '../../integrations/app-client.ts';
import { identityLinker } from '../../integrations/link-identity.ts';
import { openMail } from '../../integrations/mail.ts';
import { authorizeUrl, codeExchange, linkTokenReader } from '../../integrations/sign-on.ts';
import { tokenVerifier } from '../../integrations/token-verifier.ts';
import { cognitoClient, userDirectory } from '../../integrations/user-directory.ts';
import { userSessions } from '../../integrations/user-sessions.ts';
import { freeAddress } from '../auth/free-address.ts';
import { noteChange, recordSignIn } from '../auth/record-sign-in.ts';
import { stackOptions } from '../stack-options.ts';
import * as operations from './operations.ts';
import { changeSignOnSettings, readSignOnSettings } from './settings.ts';
import { findSignOn, linkLogin, signOn } from './sign-on.ts';

const environment = z
  .extend(dashboardEnvironment, {
    USER_POOL_ID: z.string().check(z.minLength(1)),
    SIGN_ON_ORIGIN: z.string(),
    ...mailEnvironment.shape,
    SIGN_ON_PROVIDERS: z.pipe(
      z.pipe(
        z.string(),
        z.transform((text): unknown => JSON.parse(text)),
      ),
      z.record(z.string(), z.object({ domains: z.array(z.string()), verifiesAddresses: z.boolean() })),
    ),
  } satisfies Record<Exclude<keyof SignOnEnvironment, keyof typeof dashboardEnvironment.shape>, z.ZodMiniType>)
  .parse(process.env);

const { USER_POOL_ID, USER_POOL_CLIENT_ID } = environment;
const logger = new Logger({ serviceName: 'dashboard-sign-on' });
const cognito = cognitoClient();
const client = appClient(cognito, USER_POOL_ID, USER_POOL_CLIENT_ID);
const table = openTable(environment.TABLE_NAME);
const dependencies = {
  providers: environment.SIGN_ON_PROVIDERS,
  accounts: openAccounts(table),
  users: openUsers(table),
  signOns: openSignOns(table),
  directory: userDirectory(cognito, USER_POOL_ID),
  audit: openAuditLog(table),
  sessions: userSessions(cognito, USER_POOL_ID, client),
  sendMail: openMail(environment),
  dashboardUrl: environment.DASHBOARD_URL,
  now: () => new Date(),
  logger,
};
const endpoint = {
  origin: environment.SIGN_ON_ORIGIN,
  redirectUri: `${environment.DASHBOARD_URL}${SIGN_ON_CALLBACK}`,
  clientId: USER_POOL_CLIENT_ID,
  clientSecret: client.secret,
};

const recorded = recordSignIn(dependencies);

/** Single sign-on: its pages, and the account's settings. */
export const handler = httpStack(
  [
    route(
      operations.findSignOn,
      findSignOn(dependencies.providers, (provider) => authorizeUrl(endpoint, provider)),
    ),
    route(
      operations.signOn,
      recorded(
        'user.signed_in',
        signOn({
          ...dependencies,
          exchange: codeExchange(endpoint),
          freeAddress: freeAddress({ ...dependencies, newId: randomUUID }),
        }),
      ),
    ),
    route(
      operations.linkLogin,
      recorded(
        'user.signed_in',
        linkLogin({
          ...dependencies,
          noteChange: noteChange(dependencies),
          readLinkToken: linkTokenReader(tokenVerifier(USER_POOL_ID, USER_POOL_CLIENT_ID)),
          linkIdentity: identityLinker(cognito, USER_POOL_ID),
        }),
      ),
    ),
    route(operations.readSignOnSettings, readSignOnSettings(dependencies)),
    route(operations.changeSignOnSettings, changeSignOnSettings(dependencies)),
  ],
  stackOptions(logger, table, environment),
);

import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Logger } from '@aws-lambda-powertools/logger';
import { uuidv7 } from 'uuidv7';
import * as z from 'zod/mini';
import { openAccounts } from '../../data/accounts/accounts.ts';
import { openAddressCodes } from '../../data/accounts/address-codes.ts';
import { openApiTokens } from '../../data/accounts/api-tokens.ts';
import { openAuditLog } from '../../data/accounts/audit-log.ts';
import { openMembers } from '../../data/accounts/members.ts';
import { openServiceKeys } from '../../data/accounts/service-keys.ts';
import { openUsers } from '../../data/accounts/users.ts';
import { openTable } from '../../data/table/table.ts';
import { newAccountKey } from '../../domain/accounts/account-key.ts';
import { registrations } from '../../domain/accounts/registration.ts';
import { type AuthEnvironment, mailEnvironment } from '../../environment.ts';
import { dashboardEnvironment } from '../../http/dashboard-environment.ts';
import { httpStack } from '../../http/http-stack.ts';
import { route } from '../../http/operation.ts';
import { appClient } from '../../integrations/app-client.ts';
import { authenticator } from '../../integrations/authenticate.ts';
import { openMail } from '../../integrations/mail.ts';
import { tokenVerifier } from '../../integrations/token-verifier.ts';
import { cognitoClient, userDirectory } from '../../integrations/user-directory.ts';
import { userSessions } from '../../integrations/user-sessions.ts';
import { userTotp } from '../../integrations/user-totp.ts';
import { stackOptions } from '../stack-options.ts';
import { acceptInvitation } from './accept-invitation.ts';
import { endSessions } from './end-sessions.ts';
import { freeAddress } from './free-address.ts';
import { me } from './me.ts';
import * as operations from './operations.ts';
import { changeAccount, changeEmail, changeName, changePassword } from './profile.ts';
import { noteChange, recordSignIn } from './record-sign-in.ts';
import { register } from './register.ts';
import { resetPassword } from './reset-password.ts';
import { finishReview, readReview } from './review.ts';
import { forgotPassword, logIn, logOut, refresh } from './sessions.ts';
import { beginTotp, confirmTotp, removeTotp } from './totp.ts';
import { sendCode, sendVerificationCode, verifyEmail } from './verify-email.ts';

const environment = z
  .extend(dashboardEnvironment, {
    USER_POOL_ID: z.string().check(z.minLength(1)),
    USER_POOL_JWKS_URI: z.optional(z.url()),
    ...mailEnvironment.shape,
    REGISTRATION: z.enum(registrations),
  } satisfies Record<Exclude<keyof AuthEnvironment, keyof typeof dashboardEnvironment.shape>, z.ZodMiniType>)
  .parse(process.env);

const { USER_POOL_ID, USER_POOL_CLIENT_ID, USER_POOL_JWKS_URI } = environment;
const logger = new Logger({ serviceName: 'dashboard-auth' });
const table = openTable(environment.TABLE_NAME);
const accounts = openAccounts(table);
const users = openUsers(table);
const codes = openAddressCodes(table);
const cognito = cognitoClient();
const directory = userDirectory(cognito, USER_POOL_ID);
const client = appClient(cognito, USER_POOL_ID, USER_POOL_CLIENT_ID);
const sessions = userSessions(cognito, USER_POOL_ID, client);
const totp = userTotp(cognito, USER_POOL_ID, authenticator(cognito, USER_POOL_ID, client));
const verifyToken = tokenVerifier(USER_POOL_ID, USER_POOL_CLIENT_ID, USER_POOL_JWKS_URI);
const sendMail = openMail(environment);
const now = () => new Date();
const mailCode = sendCode({ codes, sendMail, randomInt: (max) => randomInt(max), now });
const clock = { nowMs: () => performance.now(), pause };

const recorded = recordSignIn({ audit: openAuditLog(table), users, now, logger });
const noteUserChange = noteChange({ audit: openAuditLog(table), now, logger });
const totpDependencies = { noteChange: noteUserChange, totp, sessions, directory, users, accounts, clock };
const endEverySession = endSessions({ users, sessions, clock, now });

const free = freeAddress({ directory, users, sessions, sendMail, newId: randomUUID, now, logger });

const dependencies = {
  users,
  sessions,
  directory,
  freeAddress: free,
  sendCode: mailCode,
  endSessions: endEverySession,
  noteChange: noteUserChange,
  sendMail,
  dashboardUrl: environment.DASHBOARD_URL,
  clock,
  now,
  logger,
};

/** Everything under /api/auth. It has no authorizer: `me` verifies its token itself. */
export const handler = httpStack(
  [
    route(
      operations.register,
      recorded(
        'account.registered',
        register({
          registration: environment.REGISTRATION,
          directory,
          sessions,
          accounts,
          users,
          newAccountId: uuidv7,
          newAccountKey: () => newAccountKey(randomBytes),
          newKeyId: uuidv7,
          sendCode: mailCode,
          now,
          logger,
        }),
      ),
    ),
    route(operations.logIn, recorded('user.signed_in', logIn({ sessions, accounts, users, clock, now }))),
    route(operations.refresh, refresh({ sessions, accounts, users })),
    route(operations.logOut, logOut({ sessions })),
    route(operations.forgotPassword, forgotPassword({ sessions, clock })),
    route(operations.resetPassword, resetPassword(dependencies)),
    route(
      operations.acceptInvitation,
      acceptInvitation({
        ...dependencies,
        registration: environment.REGISTRATION,
        accounts,
        members: openMembers(table),
      }),
    ),
    route(operations.sendVerificationCode, sendVerificationCode({ users, sendCode: mailCode })),
    route(operations.verifyEmail, verifyEmail({ ...dependencies, codes })),
    route(operations.beginTotp, beginTotp(totpDependencies)),
    route(operations.confirmTotp, confirmTotp(totpDependencies)),
    route(operations.removeTotp, removeTotp(totpDependencies)),
    route(operations.changeName, changeName({ users })),
    route(operations.changeEmail, changeEmail(dependencies)),
    route(operations.changePassword, changePassword(dependencies)),
    route(operations.changeAccount, changeAccount({ ...dependencies, accounts })),
    route(operations.readReview, readReview({ users, keys: openServiceKeys(table), tokens: openApiTokens(table) })),
    route(operations.finishReview, finishReview({ users })),
    route(operations.me, me({ verifyToken, accounts, users })),
  ],
  stackOptions(logger, table, environment),
);

import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Logger } from '@aws-lambda-powertools/logger';
import { uuidv7 } from 'uuidv7';
import * as z from 'zod/mini';
import { openAccounts } from '../../data/accounts/accounts.ts';
import { openAuditLog } from '../../data/accounts/audit-log.ts';
import { openMembers } from '../../data/accounts/members.ts';
import { openUsers } from '../../data/accounts/users.ts';
import { openTable } from '../../data/table/table.ts';
import { newAccountKey } from '../../domain/accounts/account-key.ts';
import type { AuthEnvironment } from '../../environment.ts';
import { dashboardEnvironment } from '../../http/dashboard-environment.ts';
import { httpStack } from '../../http/http-stack.ts';
import { route } from '../../http/operation.ts';
import { tokenVerifier } from '../../integrations/token-verifier.ts';
import { cognitoClient, userDirectory } from '../../integrations/user-directory.ts';
import { userSessions } from '../../integrations/user-sessions.ts';
import { acceptInvitation } from './accept-invitation.ts';
import { me } from './me.ts';
import * as operations from './operations.ts';
import { recordSignIn } from './record-sign-in.ts';
import { register } from './register.ts';
import { forgotPassword, logIn, logOut, refresh, resetPassword } from './sessions.ts';

const environment = z
  .extend(dashboardEnvironment, {
    USER_POOL_ID: z.string().check(z.minLength(1)),
    USER_POOL_CLIENT_ID: z.string().check(z.minLength(1)),
    USER_POOL_JWKS_URI: z.optional(z.url()),
  } satisfies Record<Exclude<keyof AuthEnvironment, keyof typeof dashboardEnvironment.shape>, z.ZodMiniType>)
  .parse(process.env);

const { USER_POOL_ID, USER_POOL_CLIENT_ID, USER_POOL_JWKS_URI } = environment;
const logger = new Logger({ serviceName: 'dashboard-auth' });
const table = openTable(environment.TABLE_NAME);
const accounts = openAccounts(table);
const users = openUsers(table);
const cognito = cognitoClient();
const directory = userDirectory(cognito, USER_POOL_ID);
const sessions = userSessions(cognito, USER_POOL_ID, USER_POOL_CLIENT_ID);
const verifyToken = tokenVerifier(USER_POOL_ID, USER_POOL_CLIENT_ID, USER_POOL_JWKS_URI);
const clock = { nowMs: () => performance.now(), pause };

const recorded = recordSignIn({ audit: openAuditLog(table), users, now: () => new Date(), logger });

/** Everything under /api/auth. It has no authorizer: `me` verifies its token itself. */
export const handler = httpStack(
  [
    route(
      operations.register,
      recorded(
        'account.registered',
        register({
          directory,
          sessions,
          accounts,
          users,
          newAccountId: uuidv7,
          newAccountKey: () => newAccountKey(randomBytes),
          newKeyId: uuidv7,
          now: () => new Date(),
          logger,
        }),
      ),
    ),
    route(operations.logIn, recorded('user.signed_in', logIn({ sessions, accounts, users, clock }))),
    route(operations.refresh, refresh({ sessions, accounts, users })),
    route(operations.logOut, logOut({ sessions })),
    route(operations.forgotPassword, forgotPassword({ sessions, clock })),
    route(operations.resetPassword, resetPassword({ sessions, clock })),
    route(
      operations.acceptInvitation,
      acceptInvitation({
        directory,
        sessions,
        accounts,
        users,
        members: openMembers(table),
        now: () => new Date(),
        logger,
      }),
    ),
    route(operations.me, me({ verifyToken, accounts, users })),
  ],
  { logger, corsOrigins: environment.CORS_ORIGINS, membershipOf: async () => undefined },
);

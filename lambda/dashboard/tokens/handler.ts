import { randomBytes } from 'node:crypto';
import { Logger } from '@aws-lambda-powertools/logger';
import { uuidv7 } from 'uuidv7';
import * as z from 'zod/mini';
import { openApiTokens, openApiTokenUse } from '../../data/accounts/api-tokens.ts';
import { openTable } from '../../data/table/table.ts';
import { newApiToken } from '../../domain/accounts/api-token.ts';
import type { TokensEnvironment } from '../../environment.ts';
import { dashboardEnvironment } from '../../http/dashboard-environment.ts';
import { httpStack } from '../../http/http-stack.ts';
import { route } from '../../http/operation.ts';
import { appClient } from '../../integrations/app-client.ts';
import { cognitoClient, userDirectory } from '../../integrations/user-directory.ts';
import { userSessions } from '../../integrations/user-sessions.ts';
import { stackOptions } from '../stack-options.ts';
import { issueJwt } from './issue-jwt.ts';
import { createToken, listTokens, removeToken } from './manage-tokens.ts';
import * as operations from './operations.ts';

const environment = z
  .extend(dashboardEnvironment, {
    USER_POOL_ID: z.string().check(z.minLength(1)),
  } satisfies Record<Exclude<keyof TokensEnvironment, keyof typeof dashboardEnvironment.shape>, z.ZodMiniType>)
  .parse(process.env);

const { USER_POOL_ID, USER_POOL_CLIENT_ID } = environment;
const logger = new Logger({ serviceName: 'dashboard-tokens' });
const table = openTable(environment.TABLE_NAME);
const cognito = cognitoClient();
const dependencies = {
  tokens: openApiTokens(table),
  directory: userDirectory(cognito, USER_POOL_ID),
  newApiToken: () => newApiToken(randomBytes),
  newTokenId: uuidv7,
  now: () => new Date(),
  logger,
};

/** Everything under /api/tokens, and the exchange of an API token for a JWT. */
export const handler = httpStack(
  [
    route(operations.listTokens, listTokens(dependencies)),
    route(operations.createToken, createToken(dependencies)),
    route(operations.removeToken, removeToken(dependencies)),
    route(
      operations.issueJwt,
      issueJwt({
        use: openApiTokenUse(table, Date.now),
        sessions: userSessions(cognito, USER_POOL_ID, appClient(cognito, USER_POOL_ID, USER_POOL_CLIENT_ID)),
      }),
    ),
  ],
  stackOptions(logger, table, environment),
);

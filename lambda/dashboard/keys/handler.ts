import { randomBytes } from 'node:crypto';
import { Logger } from '@aws-lambda-powertools/logger';
import { uuidv7 } from 'uuidv7';
import { openAccounts } from '../../data/accounts/accounts.ts';
import { openMembership } from '../../data/accounts/membership.ts';
import { openServiceKeys } from '../../data/accounts/service-keys.ts';
import { openTable } from '../../data/table/table.ts';
import { newAccountKey } from '../../domain/accounts/account-key.ts';
import { dashboardEnvironment } from '../../http/dashboard-environment.ts';
import { httpStack } from '../../http/http-stack.ts';
import { route } from '../../http/operation.ts';
import { createKey, listKeys, revokeKey } from './manage-keys.ts';
import * as operations from './operations.ts';

const environment = dashboardEnvironment.parse(process.env);
const table = openTable(environment.TABLE_NAME);
const dependencies = {
  keys: openServiceKeys(table),
  accounts: openAccounts(table),
  newAccountKey: () => newAccountKey(randomBytes),
  newKeyId: uuidv7,
  now: () => new Date(),
};

/** Everything under /api/keys. */
export const handler = httpStack(
  [
    route(operations.listKeys, listKeys(dependencies)),
    route(operations.createKey, createKey(dependencies)),
    route(operations.revokeKey, revokeKey(dependencies)),
  ],
  {
    logger: new Logger({ serviceName: 'dashboard-keys' }),
    corsOrigins: environment.CORS_ORIGINS,
    membershipOf: openMembership(table).membershipOf,
  },
);

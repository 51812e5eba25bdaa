import { Logger } from '@aws-lambda-powertools/logger';
import { uuidv7 } from 'uuidv7';
import { openAccountTerms } from '../../data/accounts/account-terms.ts';
import { openMembership } from '../../data/accounts/membership.ts';
import { openOwnPrices } from '../../data/accounts/own-prices.ts';
import { openTable } from '../../data/table/table.ts';
import { dashboardEnvironment } from '../../http/dashboard-environment.ts';
import { httpStack } from '../../http/http-stack.ts';
import { route } from '../../http/operation.ts';
import { createPrice, deletePrice, listPrices, setCurrency, updatePrice } from './manage-prices.ts';
import * as operations from './operations.ts';

const environment = dashboardEnvironment.parse(process.env);
const table = openTable(environment.TABLE_NAME);
const dependencies = {
  store: openOwnPrices(table),
  termsOf: openAccountTerms(table).find,
  newId: uuidv7,
  now: () => new Date(),
};

/** Everything under /api/prices. */
export const handler = httpStack(
  [
    route(operations.listPrices, listPrices(dependencies)),
    route(operations.createPrice, createPrice(dependencies)),
    route(operations.updatePrice, updatePrice(dependencies)),
    route(operations.deletePrice, deletePrice(dependencies)),
    route(operations.setCurrency, setCurrency(dependencies)),
  ],
  {
    logger: new Logger({ serviceName: 'dashboard-prices' }),
    corsOrigins: environment.CORS_ORIGINS,
    membershipOf: openMembership(table, environment.USER_POOL_CLIENT_ID).membershipOf,
  },
);

import { Logger } from '@aws-lambda-powertools/logger';
import { uuidv7 } from 'uuidv7';
import { openAccountTerms } from '../../data/accounts/account-terms.ts';
import { openOwnPrices } from '../../data/accounts/own-prices.ts';
import { openTable } from '../../data/table/table.ts';
import { dashboardEnvironment } from '../../http/dashboard-environment.ts';
import { httpStack } from '../../http/http-stack.ts';
import { route } from '../../http/operation.ts';
import { stackOptions } from '../stack-options.ts';
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
  stackOptions(new Logger({ serviceName: 'dashboard-prices' }), table, environment),
);

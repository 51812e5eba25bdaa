import { Logger } from '@aws-lambda-powertools/logger';
import { openPriceChanges } from '../../data/prices/price-changes.ts';
import { openPriceVersions } from '../../data/prices/price-versions.ts';
import { openTable } from '../../data/table/table.ts';
import { dashboardEnvironment } from '../../http/dashboard-environment.ts';
import { httpStack } from '../../http/http-stack.ts';
import { route } from '../../http/operation.ts';
import { stackOptions } from '../stack-options.ts';
import * as operations from './operations.ts';
import { listPriceChanges } from './read-price-changes.ts';

const environment = dashboardEnvironment.parse(process.env);
const table = openTable(environment.TABLE_NAME);

const list = listPriceChanges({ changes: openPriceChanges(table), versions: openPriceVersions(table) });

/** Everything under /api/price-changes. */
export const handler = httpStack(
  [route(operations.listPriceChanges, list)],
  stackOptions(new Logger({ serviceName: 'dashboard-price-changes' }), table, environment),
);

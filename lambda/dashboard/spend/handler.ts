import { Logger } from '@aws-lambda-powertools/logger';
import { openTable } from '../../data/table/table.ts';
import { dashboardEnvironment } from '../../http/dashboard-environment.ts';
import { httpStack } from '../../http/http-stack.ts';
import { route } from '../../http/operation.ts';
import { stackOptions } from '../stack-options.ts';
import { openReadSpend } from './open-read-spend.ts';
import * as operations from './operations.ts';

const environment = dashboardEnvironment.parse(process.env);
const table = openTable(environment.TABLE_NAME);
const { readSpend, compareSpend } = openReadSpend(table);
const read = route(operations.readSpend, readSpend);
const compare = route(operations.compareSpend, compareSpend);

/** Everything under /api/spend, and the same for machines. */
export const handler = httpStack(
  [
    read,
    { ...read, operation: operations.machineReadSpend },
    compare,
    { ...compare, operation: operations.machineCompareSpend },
  ],
  stackOptions(new Logger({ serviceName: 'dashboard-spend' }), table, environment),
);

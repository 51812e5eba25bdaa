import { Logger } from '@aws-lambda-powertools/logger';
import { openDeclaredDimensions } from '../../data/accounts/declared-dimensions.ts';
import { openRules } from '../../data/alerts/rules.ts';
import { openTable } from '../../data/table/table.ts';
import { dashboardEnvironment } from '../../http/dashboard-environment.ts';
import { httpStack } from '../../http/http-stack.ts';
import { route } from '../../http/operation.ts';
import { stackOptions } from '../stack-options.ts';
import { declareDimensions, listDimensions } from './declare-dimensions.ts';
import * as operations from './operations.ts';

const environment = dashboardEnvironment.parse(process.env);
const table = openTable(environment.TABLE_NAME);
const dependencies = { dimensions: openDeclaredDimensions(table), rules: openRules(table), now: () => new Date() };

/** Everything under /api/dimensions. */
export const handler = httpStack(
  [
    route(operations.listDimensions, listDimensions(dependencies)),
    route(operations.declareDimensions, declareDimensions(dependencies)),
  ],
  stackOptions(new Logger({ serviceName: 'dashboard-dimensions' }), table, environment),
);

import { Logger } from '@aws-lambda-powertools/logger';
import { openDeclaredDimensions } from '../../data/accounts/declared-dimensions.ts';
import { openMembership } from '../../data/accounts/membership.ts';
import { openRules } from '../../data/alerts/rules.ts';
import { openTable } from '../../data/table/table.ts';
import { dashboardEnvironment } from '../../http/dashboard-environment.ts';
import { httpStack } from '../../http/http-stack.ts';
import { route } from '../../http/operation.ts';
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
  {
    logger: new Logger({ serviceName: 'dashboard-dimensions' }),
    corsOrigins: environment.CORS_ORIGINS,
    membershipOf: openMembership(table, environment.USER_POOL_CLIENT_ID).membershipOf,
  },
);

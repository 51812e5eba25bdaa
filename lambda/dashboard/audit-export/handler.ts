import { Logger } from '@aws-lambda-powertools/logger';
import { openMembership } from '../../data/accounts/membership.ts';
import { openTable } from '../../data/table/table.ts';
import { dashboardEnvironment } from '../../http/dashboard-environment.ts';
import { streamingHttpStack } from '../../http/http-stack.ts';
import { route } from '../../http/operation.ts';
import { openAuditDependencies } from '../audit/audit-query.ts';
import { exportAudit } from './export-audit.ts';
import * as operations from './operations.ts';

const environment = dashboardEnvironment.parse(process.env);
const table = openTable(environment.TABLE_NAME);
const dependencies = openAuditDependencies(table);

/** GET /api/audit/export.csv. Streamed: an export may exceed the size limit of a buffered Lambda response. */
export const handler = streamingHttpStack([route(operations.exportAudit, exportAudit(dependencies))], {
  logger: new Logger({ serviceName: 'dashboard-audit-export' }),
  corsOrigins: environment.CORS_ORIGINS,
  membershipOf: openMembership(table, environment.USER_POOL_CLIENT_ID).membershipOf,
});

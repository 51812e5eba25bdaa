import { Logger } from '@aws-lambda-powertools/logger';
import { openTable } from '../../data/table/table.ts';
import { dashboardEnvironment } from '../../http/dashboard-environment.ts';
import { streamingHttpStack } from '../../http/http-stack.ts';
import { route } from '../../http/operation.ts';
import { openAuditDependencies } from '../audit/audit-query.ts';
import { stackOptions } from '../stack-options.ts';
import { exportAudit } from './export-audit.ts';
import * as operations from './operations.ts';

const environment = dashboardEnvironment.parse(process.env);
const table = openTable(environment.TABLE_NAME);
const dependencies = openAuditDependencies(table);

/** GET /api/audit/export.csv. Streamed: an export may exceed the size limit of a buffered Lambda response. */
export const handler = streamingHttpStack(
  [route(operations.exportAudit, exportAudit(dependencies))],
  stackOptions(new Logger({ serviceName: 'dashboard-audit-export' }), table, environment),
);

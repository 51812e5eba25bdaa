import { Logger } from '@aws-lambda-powertools/logger';
import { openTable } from '../../data/table/table.ts';
import { dashboardEnvironment } from '../../http/dashboard-environment.ts';
import { httpStack } from '../../http/http-stack.ts';
import { route } from '../../http/operation.ts';
import { stackOptions } from '../stack-options.ts';
import { openAuditDependencies } from './audit-query.ts';
import * as operations from './operations.ts';
import { listAudit } from './read-audit.ts';

const environment = dashboardEnvironment.parse(process.env);
const table = openTable(environment.TABLE_NAME);
const dependencies = openAuditDependencies(table);

/** GET /api/audit. */
export const handler = httpStack(
  [route(operations.listAudit, listAudit(dependencies))],
  stackOptions(new Logger({ serviceName: 'dashboard-audit' }), table, environment),
);

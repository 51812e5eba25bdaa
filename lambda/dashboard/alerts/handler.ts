import { Logger } from '@aws-lambda-powertools/logger';
import { openAlerts } from '../../data/alerts/alerts.ts';
import { openRules } from '../../data/alerts/rules.ts';
import { openSpend } from '../../data/spend/spend.ts';
import { openTable } from '../../data/table/table.ts';
import { dashboardEnvironment } from '../../http/dashboard-environment.ts';
import { httpStack } from '../../http/http-stack.ts';
import { route } from '../../http/operation.ts';
import { stackOptions } from '../stack-options.ts';
import * as operations from './operations.ts';
import { acknowledgeAlert, getAlert, listAlerts } from './read-alerts.ts';

const environment = dashboardEnvironment.parse(process.env);
const table = openTable(environment.TABLE_NAME);
const dependencies = {
  alerts: openAlerts(table),
  rules: openRules(table),
  readCounters: openSpend(table, { isTimed: true }).read,
  now: () => new Date(),
};

/** Everything under /api/alerts. */
export const handler = httpStack(
  [
    route(operations.listAlerts, listAlerts(dependencies)),
    route(operations.getAlert, getAlert(dependencies)),
    route(operations.acknowledgeAlert, acknowledgeAlert(dependencies)),
  ],
  stackOptions(new Logger({ serviceName: 'dashboard-alerts' }), table, environment),
);

import { Logger } from '@aws-lambda-powertools/logger';
import { openRules } from '../../data/alerts/rules.ts';
import { openSpend } from '../../data/spend/spend.ts';
import { openTable } from '../../data/table/table.ts';
import { dashboardEnvironment } from '../../http/dashboard-environment.ts';
import { streamingHttpStack } from '../../http/http-stack.ts';
import { route } from '../../http/operation.ts';
import { listBudgets } from '../limits/manage-budgets.ts';
import { openReadSpend } from '../spend/open-read-spend.ts';
import { stackOptions } from '../stack-options.ts';
import * as operations from './operations.ts';
import { readMetrics } from './read-metrics.ts';

const environment = dashboardEnvironment.parse(process.env);
const table = openTable(environment.TABLE_NAME);
const now = () => new Date();

const read = route(
  operations.readMetrics,
  readMetrics({
    readSpend: openReadSpend(table).readSpend,
    listBudgets: listBudgets({
      rules: openRules(table),
      readCounters: openSpend(table, { isTimed: true }).read,
      now,
    }),
    now,
  }),
);

/** GET /api/metrics, and the same for machines. */
export const handler = streamingHttpStack(
  [read, { ...read, operation: operations.machineReadMetrics }],
  stackOptions(new Logger({ serviceName: 'dashboard-metrics' }), table, environment),
);

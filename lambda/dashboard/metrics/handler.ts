import { Logger } from '@aws-lambda-powertools/logger';
import { openServiceKeys } from '../../data/accounts/service-keys.ts';
import { openRules } from '../../data/alerts/rules.ts';
import { readInTime } from '../../data/spend/read-in-time.ts';
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
      keys: openServiceKeys(table),
      readCounters: readInTime(openSpend(table).read),
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

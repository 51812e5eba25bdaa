import { Logger } from '@aws-lambda-powertools/logger';
import { openDayExports } from '../../data/exports/day-exports.ts';
import { openTable } from '../../data/table/table.ts';
import { objectsEnvironment } from '../../http/dashboard-environment.ts';
import { httpStack } from '../../http/http-stack.ts';
import { route } from '../../http/operation.ts';
import { openObjectStore } from '../../integrations/object-store.ts';
import { stackOptions } from '../stack-options.ts';
import { listExports } from './list-exports.ts';
import * as operations from './operations.ts';

const environment = objectsEnvironment.parse(process.env);
const table = openTable(environment.TABLE_NAME);

const list = route(
  operations.listExports,
  listExports({
    dayExports: openDayExports(table),
    objects: openObjectStore(environment.OBJECT_BUCKET),
    now: () => new Date(),
  }),
);

/** Everything under /api/exports, and the same for machines. */
export const handler = httpStack(
  [list, { ...list, operation: operations.machineListExports }],
  stackOptions(new Logger({ serviceName: 'dashboard-exports' }), table, environment),
);

import { Logger } from '@aws-lambda-powertools/logger';
import { openDisplayCurrency } from '../../data/accounts/own-prices.ts';
import { openRequests } from '../../data/requests/requests.ts';
import { openTable } from '../../data/table/table.ts';
import { objectsEnvironment } from '../../http/dashboard-environment.ts';
import { httpStack } from '../../http/http-stack.ts';
import { route } from '../../http/operation.ts';
import { openObjectReader } from '../../integrations/object-reader.ts';
import { stackOptions } from '../stack-options.ts';
import * as operations from './operations.ts';
import { listRequests, readRequest } from './read-requests.ts';

const environment = objectsEnvironment.parse(process.env);
const table = openTable(environment.TABLE_NAME);
const dependencies = {
  requests: openRequests(table, Date.now, openObjectReader(environment.OBJECT_BUCKET)),
  findCurrency: openDisplayCurrency(table),
  now: () => new Date(),
};

/** Everything under /api/requests. */
export const handler = httpStack(
  [
    route(operations.listRequests, listRequests(dependencies)),
    route(operations.readRequest, readRequest(dependencies)),
  ],
  stackOptions(new Logger({ serviceName: 'dashboard-requests' }), table, environment),
);

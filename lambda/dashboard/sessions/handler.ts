import { Logger } from '@aws-lambda-powertools/logger';
import { openRequests } from '../../data/requests/requests.ts';
import { openSessions } from '../../data/spend/sessions.ts';
import { openTable } from '../../data/table/table.ts';
import { objectsEnvironment } from '../../http/dashboard-environment.ts';
import { httpStack } from '../../http/http-stack.ts';
import { route } from '../../http/operation.ts';
import { openObjectReader } from '../../integrations/object-reader.ts';
import { stackOptions } from '../stack-options.ts';
import * as operations from './operations.ts';
import { listSessions, readSession } from './read-sessions.ts';

const environment = objectsEnvironment.parse(process.env);
const table = openTable(environment.TABLE_NAME);
const dependencies = {
  sessions: openSessions(table),
  requests: openRequests(table, Date.now, openObjectReader(environment.OBJECT_BUCKET)),
  now: () => new Date(),
};

/** Everything under /api/sessions. */
export const handler = httpStack(
  [
    route(operations.listSessions, listSessions(dependencies)),
    route(operations.readSession, readSession(dependencies)),
  ],
  stackOptions(new Logger({ serviceName: 'dashboard-sessions' }), table, environment),
);

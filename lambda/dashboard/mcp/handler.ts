import { Logger } from '@aws-lambda-powertools/logger';
import { openAccounts } from '../../data/accounts/accounts.ts';
import { openDeclaredDimensions } from '../../data/accounts/declared-dimensions.ts';
import { openProjects } from '../../data/accounts/projects.ts';
import { openServiceKeys } from '../../data/accounts/service-keys.ts';
import { openAlerts } from '../../data/alerts/alerts.ts';
import { openRules } from '../../data/alerts/rules.ts';
import { openRequests } from '../../data/requests/requests.ts';
import { openSessions } from '../../data/spend/sessions.ts';
import { openSpend } from '../../data/spend/spend.ts';
import { openTable } from '../../data/table/table.ts';
import { MethodNotAllowedError } from '../../domain/errors.ts';
import { objectsEnvironment } from '../../http/dashboard-environment.ts';
import { httpStack } from '../../http/http-stack.ts';
import { route } from '../../http/operation.ts';
import { openObjectReader } from '../../integrations/object-reader.ts';
import * as alerts from '../alerts/operations.ts';
import { listAlerts } from '../alerts/read-alerts.ts';
import { listDimensions } from '../dimensions/declare-dimensions.ts';
import * as dimensions from '../dimensions/operations.ts';
import { listKeys } from '../keys/manage-keys.ts';
import { listProjects } from '../keys/manage-projects.ts';
import * as keys from '../keys/operations.ts';
import * as budgets from '../limits/budget-operations.ts';
import { listBudgets } from '../limits/manage-budgets.ts';
import * as requests from '../requests/operations.ts';
import { listRequests, readRequest } from '../requests/read-requests.ts';
import * as sessions from '../sessions/operations.ts';
import { listSessions, readSession } from '../sessions/read-sessions.ts';
import { openReadSpend } from '../spend/open-read-spend.ts';
import { stackOptions } from '../stack-options.ts';
import * as operations from './operations.ts';
import { respondToMcp } from './respond.ts';
import { spendTools, type Tool } from './tools.ts';

const environment = objectsEnvironment.parse(process.env);
const table = openTable(environment.TABLE_NAME);
const logger = new Logger({ serviceName: 'dashboard-mcp' });
const now = () => new Date();
const requestReader = { requests: openRequests(table, Date.now, openObjectReader(environment.OBJECT_BUCKET)), now };
const sessionReader = { sessions: openSessions(table), requests: requestReader.requests, now };
const serviceKeys = openServiceKeys(table);

const tools: readonly Tool[] = [
  ...spendTools(openReadSpend(table)),
  {
    name: 'request',
    description:
      'What one request cost, and how that is known: usage, prices of each line, provenance, and the reason where it is unknown.',
    route: route(requests.readRequest, readRequest(requestReader)),
  },
  {
    name: 'requests',
    description: 'The log of requests, newest first, with filters.',
    route: route(requests.listRequests, listRequests(requestReader)),
  },
  {
    name: 'sessions',
    description: 'Sessions of coding agents and other clients, the costliest first.',
    route: route(sessions.listSessions, listSessions(sessionReader)),
  },
  {
    name: 'session',
    description: 'What one session cost, by agent, and its requests.',
    route: route(sessions.readSession, readSession(sessionReader)),
  },
  {
    name: 'budgets',
    description: 'Budgets: how much of each is used and left in its current period, and whether it stops requests.',
    route: route(
      budgets.listBudgets,
      listBudgets({
        rules: openRules(table),
        readCounters: openSpend(table, { isTimed: true }).read,
        now,
      }),
    ),
  },
  {
    name: 'alerts',
    description: 'Alerts that were triggered, newest first, and what drove them.',
    route: route(alerts.listAlerts, listAlerts({ alerts: openAlerts(table) })),
  },
  {
    name: 'keys',
    description: 'Service keys: the names of the ids that groups by key have.',
    route: route(keys.listKeys, listKeys({ keys: serviceKeys, accounts: openAccounts(table), now })),
  },
  {
    name: 'projects',
    description: 'Projects: the names of the ids that groups by project have, and their keys.',
    route: route(keys.listProjects, listProjects({ projects: openProjects(table), keys: serviceKeys })),
  },
  {
    name: 'dimensions',
    description: 'Which metadata names the account declared as dimensions of spend, such as team.',
    route: route(dimensions.listDimensions, listDimensions({ dimensions: openDeclaredDimensions(table) })),
  },
];

/** POST /api/mcp. */
export const handler = httpStack(
  [
    route(operations.callMcp, respondToMcp({ tools, logger })),
    route(operations.openMcpStream, async () => {
      throw new MethodNotAllowedError('This server opens no stream. Send messages with POST.');
    }),
  ],
  stackOptions(logger, table, environment),
);

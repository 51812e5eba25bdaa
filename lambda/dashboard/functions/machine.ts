import { openAccounts } from '../../data/accounts/accounts.ts';
import { openDeclaredDimensions } from '../../data/accounts/declared-dimensions.ts';
import { openProjects } from '../../data/accounts/projects.ts';
import { openServiceKeys } from '../../data/accounts/service-keys.ts';
import { openAlerts } from '../../data/alerts/alerts.ts';
import { openDayExports } from '../../data/exports/day-exports.ts';
import { openRequests } from '../../data/requests/requests.ts';
import { openSessions } from '../../data/spend/sessions.ts';
import { MethodNotAllowedError } from '../../domain/errors.ts';
import { readingEnvironment } from '../../environment.ts';
import { streamingHttpStack } from '../../http/http-stack.ts';
import { route } from '../../http/operation.ts';
import { openObjectReader } from '../../integrations/object-reader.ts';
import * as alerts from '../alerts/operations.ts';
import { listAlerts } from '../alerts/read-alerts.ts';
import { listDimensions } from '../dimensions/declare-dimensions.ts';
import * as dimensions from '../dimensions/operations.ts';
import { listExports } from '../exports/list-exports.ts';
import * as exports from '../exports/operations.ts';
import { listKeys } from '../keys/manage-keys.ts';
import { listProjects } from '../keys/manage-projects.ts';
import * as keys from '../keys/operations.ts';
import * as budgets from '../limits/budget-operations.ts';
import * as mcp from '../mcp/operations.ts';
import { respondToMcp } from '../mcp/respond.ts';
import { spendTools, type Tool } from '../mcp/tools.ts';
import * as metrics from '../metrics/operations.ts';
import { openFunction } from '../open-function.ts';
import { openSpendReads } from '../open-spend-reads.ts';
import * as reconciliation from '../reconciliation/operations.ts';
import { openReadReconciliation } from '../reconciliation/read-reconciliation.ts';
import * as requests from '../requests/operations.ts';
import { listRequests, readRequest } from '../requests/read-requests.ts';
import * as sessions from '../sessions/operations.ts';
import { listSessions, readSession } from '../sessions/read-sessions.ts';
import * as spend from '../spend/operations.ts';

const environment = readingEnvironment.parse(process.env);
const { logger, table, options } = openFunction('dashboard-machine', environment);
const now = () => new Date();
const objects = openObjectReader(environment.OBJECT_BUCKET);
const reads = openSpendReads(table, now);
const requestReader = { requests: openRequests(table, Date.now, objects), now };
const sessionReader = { sessions: openSessions(table), requests: requestReader.requests, now };
const serviceKeys = openServiceKeys(table);
const tools: readonly Tool[] = [
  ...spendTools(reads),
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
    route: route(budgets.listBudgets, reads.listBudgets),
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

/** Serves scripts, Prometheus and AI agents, which send an API token as it is. It only reads, and streams as `reading` does. */
export const handler = streamingHttpStack(
  [
    { ...route(spend.readSpend, reads.readSpend), operation: spend.machineReadSpend },
    { ...route(spend.compareSpend, reads.compareSpend), operation: spend.machineCompareSpend },
    { ...route(spend.exportSpend, reads.exportSpend), operation: spend.machineExportSpend },
    { ...route(metrics.readMetrics, reads.readMetrics), operation: metrics.machineReadMetrics },
    {
      ...route(exports.listExports, listExports({ dayExports: openDayExports(table), objects, now })),
      operation: exports.machineListExports,
    },
    {
      ...route(reconciliation.readReconciliation, openReadReconciliation(table, logger)),
      operation: reconciliation.machineReadReconciliation,
    },
    route(mcp.callMcp, respondToMcp({ tools, logger })),
    route(mcp.openMcpStream, async () => {
      throw new MethodNotAllowedError('This server opens no stream. Send messages with POST.');
    }),
  ],
  options,
);

import type * as z from 'zod/mini';
import { openAccounts } from '../../data/accounts/accounts.ts';
import { openDeclaredDimensions } from '../../data/accounts/declared-dimensions.ts';
import { openAlerts } from '../../data/alerts/alerts.ts';
import { openBlocks } from '../../data/alerts/blocks.ts';
import { openDayExports } from '../../data/exports/day-exports.ts';
import { openRollupMarks } from '../../data/ledger/rollup-marks.ts';
import { MethodNotAllowedError } from '../../domain/errors.ts';
import { readingEnvironment } from '../../environment.ts';
import { streamingHttpStack } from '../../http/http-stack.ts';
import { type Operation, route } from '../../http/operation.ts';
import * as alerts from '../alerts/operations.ts';
import { listAlerts } from '../alerts/read-alerts.ts';
import { manageDimensions } from '../dimensions/declare-dimensions.ts';
import * as dimensions from '../dimensions/operations.ts';
import { readExports } from '../exports/list-exports.ts';
import * as exports from '../exports/operations.ts';
import { listKeys } from '../keys/manage-keys.ts';
import { listProjects } from '../keys/manage-projects.ts';
import * as keys from '../keys/operations.ts';
import * as budgets from '../limits/budget-operations.ts';
import { listPauses } from '../limits/manage-pauses.ts';
import { listRules } from '../limits/manage-rules.ts';
import * as rules from '../limits/rule-operations.ts';
import * as mcp from '../mcp/operations.ts';
import { respondToMcp } from '../mcp/respond.ts';
import { spendTools, type Tool, withoutParts } from '../mcp/tools.ts';
import * as metrics from '../metrics/operations.ts';
import { openFunction } from '../open-function.ts';
import { openReading } from '../open-reading.ts';
import * as reconciliation from '../reconciliation/operations.ts';
import { openReadReconciliation } from '../reconciliation/read-reconciliation.ts';
import * as requests from '../requests/operations.ts';
import { readRequests } from '../requests/read-requests.ts';
import * as savings from '../savings/operations.ts';
import { readSavings } from '../savings/read-savings.ts';
import * as sessions from '../sessions/operations.ts';
import { readSessions } from '../sessions/read-sessions.ts';
import * as spend from '../spend/operations.ts';

const environment = readingEnvironment.parse(process.env);
const { logger, table, options } = openFunction('dashboard-machine', environment);
const opened = {
  ...openReading(table, environment, logger),
  accounts: openAccounts(table),
  dimensions: openDeclaredDimensions(table),
  alerts: openAlerts(table),
  blocks: openBlocks(table),
  dayExports: openDayExports(table),
  marks: openRollupMarks(table),
};
const { listRequests, readRequest } = readRequests(opened);
const { listSavings } = readSavings(opened);
const { listExports, listExportChanges } = readExports(opened);
const { listSessions, readSession } = readSessions(opened);
const readReconciliation = openReadReconciliation(table, logger);

type Output<O extends Operation> = z.output<NonNullable<O['success']['schema']>>;

/** An alert about money, without nano-USD. */
const inUsd = ({ figureUsd, limitUsd, ...alert }: Output<typeof alerts.listAlerts>['items'][number]) =>
  figureUsd === null ? alert : { ...alert, unit: 'usd', figure: figureUsd, limit: limitUsd };

const tools: readonly Tool[] = [
  ...spendTools(opened),
  {
    name: 'savings',
    description:
      'Where money is wasted, in dollars a month: caches that nobody reads, prompts that are never cached, interrupted responses, a dear model next to the usual one, idle keys, commitments, subscriptions and credits that are not used. Each with its arithmetic, how sure it is, and requests behind it; and what was dismissed or is watched.',
    route: route(savings.listSavings, listSavings),
  },
  {
    name: 'request',
    description:
      'What one request cost, and how that is known: usage, prices of each line, provenance, and the reason where it is unknown.',
    route: route(requests.readRequest, readRequest),
  },
  {
    name: 'requests',
    description: 'The log of requests, newest first, with filters.',
    route: route(requests.listRequests, listRequests),
  },
  {
    name: 'sessions',
    description: 'Sessions of coding agents and other clients, the costliest first.',
    route: route(sessions.listSessions, listSessions),
    rows: () => 'items',
    brief: ({ items, ...report }: Output<typeof sessions.listSessions>) => ({
      ...report,
      items: items.map(withoutParts),
    }),
  },
  {
    name: 'session',
    description: 'What one session cost, by agent, and its requests. The tool requests lists those of a long session.',
    route: route(sessions.readSession, readSession),
    brief: ({ agents, ...session }: Output<typeof sessions.readSession>) => ({
      ...session,
      agents: agents.map(({ items: _, ...agent }) => withoutParts(agent)),
      isComplete: false,
    }),
    rows: () => 'agents',
  },
  {
    name: 'budgets',
    description: 'Budgets: how much of each is used and left in its current period, and whether it stops requests.',
    route: route(budgets.listBudgets, opened.listBudgets),
    // The bound is not read here.
    view: ({ items }: Output<typeof budgets.listBudgets>) => ({
      items: items.map(({ state: { bound: _, enforcedFrom: __, ...state }, ...budget }) => ({ ...budget, state })),
    }),
  },
  {
    name: 'alerts',
    description: 'Alerts that were triggered, newest first, and what drove them.',
    route: route(alerts.listAlerts, listAlerts(opened)),
    view: ({ items, ...page }: Output<typeof alerts.listAlerts>) => ({ ...page, items: items.map(inUsd) }),
  },
  {
    name: 'alert_rules',
    description: 'Alert rules: what each watches, and when it fires.',
    route: route(rules.listRules, listRules(opened)),
  },
  {
    name: 'pauses',
    description: 'What is stopped at the moment, by people and by rules.',
    route: route(budgets.listPauses, listPauses(opened)),
  },
  {
    name: 'reconciliation',
    description:
      'What a provider billed in some days, compared with what is on record, and each part of the difference.',
    route: route(reconciliation.readReconciliation, readReconciliation),
    rows: () => 'findings',
  },
  {
    name: 'keys',
    description: 'Service keys: the names of the ids that groups by key have.',
    route: route(keys.listKeys, listKeys(opened)),
  },
  {
    name: 'projects',
    description: 'Projects: the names of the ids that groups by project have, and their keys.',
    route: route(keys.listProjects, listProjects(opened)),
  },
  {
    name: 'dimensions',
    description: 'Which metadata names the account declared as dimensions of spend, such as team.',
    route: route(dimensions.listDimensions, manageDimensions(opened).listDimensions),
  },
];

/** Serves scripts, Prometheus and AI agents, which send an API token as it is. It only reads, and streams as `reading` does. */
export const handler = streamingHttpStack(
  [
    route(spend.machineReadSpend, opened.readSpend),
    route(spend.machineCompareSpend, opened.compareSpend),
    route(savings.machineListSavings, listSavings),
    route(spend.machineExportSpend, opened.exportSpend),
    route(metrics.machineReadMetrics, opened.readMetrics),
    route(exports.machineListExports, listExports),
    route(exports.machineListExportChanges, listExportChanges),
    route(requests.machineListRequests, listRequests),
    route(requests.machineReadRequest, readRequest),
    route(reconciliation.machineReadReconciliation, readReconciliation),
    route(mcp.callMcp, respondToMcp({ tools, logger })),
    ...[mcp.openMcpStream, mcp.endMcpSession].map((operation) =>
      route(operation, async () => {
        throw new MethodNotAllowedError('This server has no streams and no sessions. Send messages with POST.');
      }),
    ),
  ],
  options,
);

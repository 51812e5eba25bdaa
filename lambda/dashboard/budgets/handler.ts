import { Logger } from '@aws-lambda-powertools/logger';
import { uuidv7 } from 'uuidv7';
import { openBlockCopies } from '../../data/accounts/block-copies.ts';
import { openDeclaredDimensions } from '../../data/accounts/declared-dimensions.ts';
import { openProjects } from '../../data/accounts/projects.ts';
import { openServiceKeys } from '../../data/accounts/service-keys.ts';
import { openBlocks } from '../../data/alerts/blocks.ts';
import { openRules } from '../../data/alerts/rules.ts';
import { openReservations } from '../../data/ledger/reservations.ts';
import { openSessions } from '../../data/spend/sessions.ts';
import { openSpend } from '../../data/spend/spend.ts';
import { openTable } from '../../data/table/table.ts';
import { dashboardEnvironment } from '../../http/dashboard-environment.ts';
import { httpStack } from '../../http/http-stack.ts';
import { route } from '../../http/operation.ts';
import * as operations from '../limits/budget-operations.ts';
import {
  createBudget,
  deleteBudget,
  getBudget,
  listBudgets,
  previewBudget,
  updateBudget,
} from '../limits/manage-budgets.ts';
import { createPause, endPause, listPauses } from '../limits/manage-pauses.ts';
import { openBounds } from '../limits/read-bounds.ts';
import { ruleChanges } from '../limits/rule-changes.ts';
import { stackOptions } from '../stack-options.ts';

const environment = dashboardEnvironment.parse(process.env);
const table = openTable(environment.TABLE_NAME);
const dependencies = {
  ...ruleChanges,
  rules: openRules(table),
  blocks: openBlocks(table),
  reservations: openReservations(table),
  readBounds: openBounds(table),
  blockCopies: openBlockCopies(table),
  keys: openServiceKeys(table),
  newPauseId: uuidv7,
  readSessions: openSessions(table).read,
  findDeclared: openDeclaredDimensions(table).find,
  projects: openProjects(table),
  readCounters: openSpend(table, { isTimed: true }).read,
};

/** Everything under /api/budgets and /api/pauses. */
export const handler = httpStack(
  [
    route(operations.listBudgets, listBudgets(dependencies)),
    route(operations.getBudget, getBudget(dependencies)),
    route(operations.createBudget, createBudget(dependencies)),
    route(operations.previewBudget, previewBudget(dependencies)),
    route(operations.updateBudget, updateBudget(dependencies)),
    route(operations.deleteBudget, deleteBudget(dependencies)),
    route(operations.listPauses, listPauses(dependencies)),
    route(operations.createPause, createPause(dependencies)),
    route(operations.endPause, endPause(dependencies)),
  ],
  stackOptions(new Logger({ serviceName: 'dashboard-budgets' }), table, environment),
);

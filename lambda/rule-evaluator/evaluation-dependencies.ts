import { uuidv7 } from 'uuidv7';
import { openProjects } from '../data/accounts/projects.ts';
import { openServiceKeys } from '../data/accounts/service-keys.ts';
import { openAlerts } from '../data/alerts/alerts.ts';
import { openBlocks } from '../data/alerts/blocks.ts';
import { openMeasures } from '../data/alerts/measures.ts';
import { openReservations } from '../data/ledger/reservations.ts';
import { openSessions } from '../data/spend/sessions.ts';
import { openSpend } from '../data/spend/spend.ts';
import type { Table } from '../data/table/table.ts';
import type { EvaluationDependencies } from './evaluate-account.ts';

/** What judging an account reads and writes, over one table. */
export const evaluationDependencies = (table: Table) =>
  ({
    readCounters: openSpend(table).read,
    alerts: openAlerts(table),
    blocks: openBlocks(table),
    reservations: openReservations(table),
    measures: openMeasures(table),
    keys: openServiceKeys(table),
    projects: openProjects(table),
    readSessions: openSessions(table).read,
    newAlertId: uuidv7,
  }) satisfies EvaluationDependencies;

import type { Logger } from '@aws-lambda-powertools/logger';
import type * as z from 'zod/mini';
import { openAccountTerms } from '../data/accounts/account-terms.ts';
import { openAuditLog } from '../data/accounts/audit-log.ts';
import { openDisplayCurrency } from '../data/accounts/own-prices.ts';
import { openProjects } from '../data/accounts/projects.ts';
import { openServiceKeys } from '../data/accounts/service-keys.ts';
import { openUsers } from '../data/accounts/users.ts';
import { openRules } from '../data/alerts/rules.ts';
import { openLimitValues } from '../data/ledger/limit-values.ts';
import { openRaises } from '../data/ledger/raises.ts';
import { openPriceVersions } from '../data/prices/price-versions.ts';
import { openPriceChanges } from '../data/prices/repricing.ts';
import { loadSavings, openSavingDecisions } from '../data/reports/saving-decisions.ts';
import { openRequests } from '../data/requests/requests.ts';
import { openSessions } from '../data/spend/sessions.ts';
import { openSpend } from '../data/spend/spend.ts';
import type { Table } from '../data/table/table.ts';
import type { readingEnvironment } from '../environment.ts';
import { openObjectReader } from '../integrations/object-reader.ts';
import { openSpendReads } from './open-spend-reads.ts';

/** The dependencies of the operations of `readingRoutes`. */
export const openReading = (
  table: Table,
  environment: z.infer<typeof readingEnvironment>,
  logger: Pick<Logger, 'error' | 'warn'>,
  now = () => new Date(),
) => {
  const nowMs = () => now().getTime();
  const objects = openObjectReader(environment.OBJECT_BUCKET);
  const requests = openRequests(table, nowMs, objects);
  return {
    ...openSpendReads(table, now),
    requests,
    objects,
    findCurrency: openDisplayCurrency(table),
    readCounters: openSpend(table, { isTimed: true }).read,
    savings: loadSavings(table, requests, logger),
    decisions: openSavingDecisions(table),
    changes: openPriceChanges(table),
    versions: openPriceVersions(table),
    sessions: openSessions(table, nowMs),
    rules: openRules(table),
    keys: openServiceKeys(table),
    users: openUsers(table),
    projects: openProjects(table),
    limitValues: openLimitValues(table, nowMs),
    raises: openRaises(table),
    audit: openAuditLog(table),
    accountTerms: openAccountTerms(table, nowMs),
    now,
  };
};

export type Reading = ReturnType<typeof openReading>;

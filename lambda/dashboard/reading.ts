import type { Logger } from '@aws-lambda-powertools/logger';
import type * as z from 'zod/mini';
import { openAccountTerms } from '../data/accounts/account-terms.ts';
import { openAuditLog } from '../data/accounts/audit-log.ts';
import { openMembers } from '../data/accounts/members.ts';
import { openDisplayCurrency } from '../data/accounts/own-prices.ts';
import { openProjects } from '../data/accounts/projects.ts';
import { openServiceKeys } from '../data/accounts/service-keys.ts';
import { openRules } from '../data/alerts/rules.ts';
import { openLimitValues } from '../data/ledger/limit-values.ts';
import { openRaises } from '../data/ledger/raises.ts';
import { openPriceChanges } from '../data/prices/price-changes.ts';
import { openPriceVersions } from '../data/prices/price-versions.ts';
import { openSavingDecisions } from '../data/reports/saving-decisions.ts';
import { openSavings } from '../data/reports/savings.ts';
import { openRequests } from '../data/requests/requests.ts';
import { openSessions } from '../data/spend/sessions.ts';
import { openSpend } from '../data/spend/spend.ts';
import type { Table } from '../data/table/table.ts';
import type { readingEnvironment } from '../environment.ts';
import { route, routes } from '../http/operation.ts';
import { openObjectReader } from '../integrations/object-reader.ts';
import * as audit from './audit/operations.ts';
import * as readAudit from './audit/read-audit.ts';
import * as accessPreview from './limits/access-preview-operations.ts';
import * as readValues from './limits/limit-values.ts';
import * as previewAccess from './limits/preview-access.ts';
import * as limitValues from './limits/value-operations.ts';
import * as metrics from './metrics/operations.ts';
import { openSpendReads } from './open-spend-reads.ts';
import * as openapi from './openapi/operations.ts';
import * as priceChanges from './price-changes/operations.ts';
import * as readPriceChanges from './price-changes/read-price-changes.ts';
import * as requests from './requests/operations.ts';
import * as readRequests from './requests/read-requests.ts';
import * as savings from './savings/operations.ts';
import * as readSavings from './savings/read-savings.ts';
import * as sessions from './sessions/operations.ts';
import * as readSessions from './sessions/read-sessions.ts';
import * as spend from './spend/operations.ts';

/** What the operations of `readingRoutes` work with. */
export const openReading = (
  table: Table,
  environment: z.infer<typeof readingEnvironment>,
  logger: Pick<Logger, 'error' | 'warn'>,
  now = () => new Date(),
) => {
  const nowMs = () => now().getTime();
  const requests = openRequests(table, nowMs, openObjectReader(environment.OBJECT_BUCKET));
  return {
    ...openSpendReads(table, now),
    requests,
    findCurrency: openDisplayCurrency(table),
    readCounters: openSpend(table, { isTimed: true }).read,
    savings: openSavings(table, requests, logger),
    decisions: openSavingDecisions(table),
    changes: openPriceChanges(table),
    versions: openPriceVersions(table),
    sessions: openSessions(table, nowMs),
    rules: openRules(table),
    keys: openServiceKeys(table),
    members: openMembers(table),
    projects: openProjects(table),
    limitValues: openLimitValues(table, nowMs),
    raises: openRaises(table),
    audit: openAuditLog(table),
    accountTerms: openAccountTerms(table, nowMs),
    now,
  };
};

/** What people read: spend, savings, requests, sessions, limits, the audit log. */
export const readingRoutes = (opened: ReturnType<typeof openReading>) => [
  route(spend.readSpend, opened.readSpend),
  route(spend.compareSpend, opened.compareSpend),
  route(spend.exportSpend, opened.exportSpend),
  route(metrics.readMetrics, opened.readMetrics),
  ...routes(savings, readSavings, opened),
  ...routes(priceChanges, readPriceChanges, opened),
  ...routes(requests, readRequests, opened),
  ...routes(sessions, readSessions, opened),
  ...routes(accessPreview, previewAccess, opened),
  ...routes(limitValues, readValues, opened),
  ...routes(audit, readAudit, opened),
  // The file that `npm run openapi` generates from the schemas of the functions; a test compares the two.
  route(openapi.readOpenApi, async () => (await import('#openapi', { with: { type: 'json' } })).default),
];

import { openMembers } from '../../data/accounts/members.ts';
import { openDisplayCurrency } from '../../data/accounts/own-prices.ts';
import { openProjects } from '../../data/accounts/projects.ts';
import { openServiceKeys } from '../../data/accounts/service-keys.ts';
import { openRules } from '../../data/alerts/rules.ts';
import { openLimitValues } from '../../data/ledger/limit-values.ts';
import { openRaises } from '../../data/ledger/raises.ts';
import { openPriceChanges } from '../../data/prices/price-changes.ts';
import { openPriceVersions } from '../../data/prices/price-versions.ts';
import { openSavingDecisions } from '../../data/reports/saving-decisions.ts';
import { openSavings } from '../../data/reports/savings.ts';
import { openRequests } from '../../data/requests/requests.ts';
import { openSessions } from '../../data/spend/sessions.ts';
import { openSpend } from '../../data/spend/spend.ts';
import { readingEnvironment } from '../../environment.ts';
import { streamingHttpStack } from '../../http/http-stack.ts';
import { route } from '../../http/operation.ts';
import { openObjectReader } from '../../integrations/object-reader.ts';
import * as audit from '../audit/operations.ts';
import { exportAudit, listAudit, openAuditDependencies } from '../audit/read-audit.ts';
import * as accessPreview from '../limits/access-preview-operations.ts';
import { exportLimitValues, listLimitValues, listOwnLimits, readLimitValue } from '../limits/limit-values.ts';
import { previewAccessRule } from '../limits/preview-access.ts';
import * as limitValues from '../limits/value-operations.ts';
import * as metrics from '../metrics/operations.ts';
import { openFunction } from '../open-function.ts';
import { openSpendReads } from '../open-spend-reads.ts';
import * as openapi from '../openapi/operations.ts';
import * as priceChanges from '../price-changes/operations.ts';
import { listPriceChanges } from '../price-changes/read-price-changes.ts';
import * as requests from '../requests/operations.ts';
import { listRequests, readRequest } from '../requests/read-requests.ts';
import * as savings from '../savings/operations.ts';
import { listSavings, readWhatIf } from '../savings/read-savings.ts';
import * as sessions from '../sessions/operations.ts';
import { listSessions, readSession } from '../sessions/read-sessions.ts';
import * as spend from '../spend/operations.ts';

const environment = readingEnvironment.parse(process.env);
const { logger, table, options } = openFunction('dashboard-reading', environment);
const now = () => new Date();
const { readSpend, compareSpend, exportSpend, readMetrics } = openSpendReads(table, now);
const stored = openRequests(table, Date.now, openObjectReader(environment.OBJECT_BUCKET));
const requestLog = { requests: stored, findCurrency: openDisplayCurrency(table), now };
const access = {
  requests: stored,
  readCounters: openSpend(table, { isTimed: true }).read,
  keys: openServiceKeys(table),
  now,
};
const saving = {
  savings: openSavings(table, stored, logger),
  decisions: openSavingDecisions(table),
  compareSpend,
  now,
};
const sessionLog = { requests: stored, sessions: openSessions(table), now };
const auditLog = openAuditDependencies(table);
const limits = {
  rules: openRules(table),
  keys: openServiceKeys(table),
  members: openMembers(table),
  projects: openProjects(table),
  limitValues: openLimitValues(table),
  raises: openRaises(table),
  now,
};

/** Serves what people read, and writes nothing. All of it is streamed: what is exported may exceed the size limit of a buffered response. */
export const handler = streamingHttpStack(
  [
    route(spend.readSpend, readSpend),
    route(spend.compareSpend, compareSpend),
    route(spend.exportSpend, exportSpend),
    route(savings.readWhatIf, readWhatIf(saving)),
    route(savings.listSavings, listSavings(saving)),
    route(metrics.readMetrics, readMetrics),
    route(
      priceChanges.listPriceChanges,
      listPriceChanges({ changes: openPriceChanges(table), versions: openPriceVersions(table) }),
    ),
    route(requests.listRequests, listRequests(requestLog)),
    route(requests.readRequest, readRequest(requestLog)),
    route(sessions.listSessions, listSessions(sessionLog)),
    route(sessions.readSession, readSession(sessionLog)),
    route(accessPreview.previewAccessRule, previewAccessRule(access)),
    route(limitValues.listLimitValues, listLimitValues(limits)),
    route(limitValues.listOwnLimits, listOwnLimits(limits)),
    route(limitValues.exportLimitValues, exportLimitValues(limits)),
    route(limitValues.readLimitValue, readLimitValue(limits)),
    route(audit.listAudit, listAudit(auditLog)),
    route(audit.exportAudit, exportAudit(auditLog)),
    // The file that `npm run openapi` generates from the schemas of the functions; a test compares the two.
    route(openapi.readOpenApi, async () => (await import('#openapi', { with: { type: 'json' } })).default),
  ],
  options,
);

import { route, routes } from '../http/operation.ts';
import * as audit from './audit/operations.ts';
import { readAudit } from './audit/read-audit.ts';
import * as accessPreview from './limits/access-preview-operations.ts';
import { readLimitValues } from './limits/limit-values.ts';
import { previewAccessRule } from './limits/preview-access.ts';
import * as limitValues from './limits/value-operations.ts';
import * as metrics from './metrics/operations.ts';
import type { Reading } from './open-reading.ts';
import * as openapi from './openapi/operations.ts';
import * as priceChanges from './price-changes/operations.ts';
import { listPriceChanges } from './price-changes/read-price-changes.ts';
import * as requests from './requests/operations.ts';
import { readRequests } from './requests/read-requests.ts';
import * as savings from './savings/operations.ts';
import { readSavings } from './savings/read-savings.ts';
import * as sessions from './sessions/operations.ts';
import { readSessions } from './sessions/read-sessions.ts';
import * as spend from './spend/operations.ts';

/** The operations that read: spend, savings, requests, sessions, limits, the audit log. */
export const readingRoutes = (opened: Reading) => [
  route(spend.readSpend, opened.readSpend),
  route(spend.compareSpend, opened.compareSpend),
  route(spend.exportSpend, opened.exportSpend),
  route(metrics.readMetrics, opened.readMetrics),
  ...routes(savings, readSavings(opened)),
  route(priceChanges.listPriceChanges, listPriceChanges(opened)),
  ...routes(requests, readRequests(opened)),
  ...routes(sessions, readSessions(opened)),
  route(accessPreview.previewAccessRule, previewAccessRule(opened)),
  ...routes(limitValues, readLimitValues(opened)),
  ...routes(audit, readAudit(opened)),
  // The file that `npm run openapi` generates from the schemas of the functions; a test compares the two.
  route(openapi.readOpenApi, async () => (await import('#openapi', { with: { type: 'json' } })).default),
];

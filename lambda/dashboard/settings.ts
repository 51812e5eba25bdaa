import { randomBytes } from 'node:crypto';
import type { Logger } from '@aws-lambda-powertools/logger';
import { uuidv7 } from 'uuidv7';
import type * as z from 'zod/mini';
import { openAccountTerms } from '../data/accounts/account-terms.ts';
import { openAccounts } from '../data/accounts/accounts.ts';
import { openBlockCopies } from '../data/accounts/block-copies.ts';
import { openDeclaredDimensions } from '../data/accounts/declared-dimensions.ts';
import { openMembers } from '../data/accounts/members.ts';
import { openOwnPrices } from '../data/accounts/own-prices.ts';
import { openProjects } from '../data/accounts/projects.ts';
import { openSavedViews } from '../data/accounts/saved-views.ts';
import { openServiceKeys } from '../data/accounts/service-keys.ts';
import { openUsers } from '../data/accounts/users.ts';
import { openAlerts } from '../data/alerts/alerts.ts';
import { openBlocks } from '../data/alerts/blocks.ts';
import { openRules } from '../data/alerts/rules.ts';
import { openLimitValues } from '../data/ledger/limit-values.ts';
import { openRaises } from '../data/ledger/raises.ts';
import { openReservations } from '../data/ledger/reservations.ts';
import { openContent } from '../data/reports/open-content.ts';
import { openReports } from '../data/reports/reports.ts';
import { openSavingDecisions } from '../data/reports/saving-decisions.ts';
import { openRequests } from '../data/requests/requests.ts';
import { openSessions } from '../data/spend/sessions.ts';
import { openSpend } from '../data/spend/spend.ts';
import type { Table } from '../data/table/table.ts';
import { newAccountKey } from '../domain/accounts/account-key.ts';
import type { settingsEnvironment } from '../environment.ts';
import { routes } from '../http/operation.ts';
import { openMail } from '../integrations/mail.ts';
import { openObjectReader } from '../integrations/object-reader.ts';
import type { PostJson } from '../integrations/post-message.ts';
import { postWebhook, webhookAccess } from '../integrations/webhook.ts';
import * as alerts from './alerts/operations.ts';
import * as readAlerts from './alerts/read-alerts.ts';
import * as declareDimensions from './dimensions/declare-dimensions.ts';
import * as dimensions from './dimensions/operations.ts';
import * as manageKeys from './keys/manage-keys.ts';
import * as manageProjects from './keys/manage-projects.ts';
import * as keys from './keys/operations.ts';
import * as access from './limits/access-operations.ts';
import * as budgets from './limits/budget-operations.ts';
import { removeLimitOverride, setLimitOverride } from './limits/limit-values.ts';
import * as manageAccess from './limits/manage-access.ts';
import * as manageBudgets from './limits/manage-budgets.ts';
import * as managePauses from './limits/manage-pauses.ts';
import * as manageRules from './limits/manage-rules.ts';
import * as raiseOperations from './limits/raise-operations.ts';
import * as raises from './limits/raises.ts';
import { openBounds } from './limits/read-bounds.ts';
import { ruleChanges } from './limits/rule-changes.ts';
import * as rules from './limits/rule-operations.ts';
import { testRule } from './limits/test-rule.ts';
import * as managePrices from './prices/manage-prices.ts';
import * as prices from './prices/operations.ts';
import * as manageReports from './reports/manage-reports.ts';
import * as reports from './reports/operations.ts';
import { sendReport } from './reports/send-report.ts';
import * as decide from './savings/decide.ts';
import * as decisions from './savings/decision-operations.ts';
import * as manageViews from './views/manage-views.ts';
import * as views from './views/operations.ts';

/** What the operations of `settingsRoutes` work with. */
export const openSettings = (
  table: Table,
  environment: z.infer<typeof settingsEnvironment>,
  logger: Pick<Logger, 'error' | 'warn'>,
  now = () => new Date(),
) => {
  const declared = openDeclaredDimensions(table);
  const webhooks = webhookAccess(environment.WEBHOOK_TARGETS);
  const nowMs = () => now().getTime();
  const sessions = openSessions(table, nowMs);
  const requests = openRequests(table, nowMs, openObjectReader(environment.OBJECT_BUCKET));
  return {
    ...ruleChanges(webhooks),
    alerts: openAlerts(table),
    rules: openRules(table),
    blocks: openBlocks(table),
    blockCopies: openBlockCopies(table),
    reservations: openReservations(table, nowMs),
    limitValues: openLimitValues(table, nowMs),
    keys: openServiceKeys(table),
    accounts: openAccounts(table),
    projects: openProjects(table),
    dimensions: declared,
    findDeclared: declared.find,
    readBounds: openBounds(table),
    readCounters: openSpend(table, { isTimed: true }).read,
    sessions,
    readSessions: sessions.read,
    members: openMembers(table),
    newPauseId: uuidv7,
    newPriceId: uuidv7,
    newRaiseId: uuidv7,
    newAccessRuleId: uuidv7,
    newKeyId: uuidv7,
    newProjectId: uuidv7,
    newViewId: uuidv7,
    newAccountKey: () => newAccountKey(randomBytes),
    views: openSavedViews(table),
    reports: openReports(table),
    savingDecisions: openSavingDecisions(table),
    users: openUsers(table),
    dashboardUrl: environment.DASHBOARD_URL,
    postWebhook: (...[target, body, at]: Parameters<PostJson>) => postWebhook(target, body, at, webhooks),
    ownPrices: openOwnPrices(table, nowMs),
    termsOf: openAccountTerms(table, nowMs).find,
    readContent: openContent(table, requests, logger, now),
    sendMail: openMail(environment),
    raises: openRaises(table),
    logger,
    now,
  };
};

/** What an account sets: limits and what they found, keys and projects, dimensions, prices, views, reports. */
export const settingsRoutes = (opened: ReturnType<typeof openSettings>) => [
  ...routes(keys, { ...manageKeys, ...manageProjects }, opened),
  ...routes(dimensions, declareDimensions, opened),
  ...routes(prices, managePrices, opened),
  ...routes(views, manageViews, opened),
  ...routes(decisions, decide, opened),
  ...routes(rules, { ...manageRules, testRule }, opened),
  ...routes(budgets, { ...manageBudgets, ...managePauses, setLimitOverride, removeLimitOverride }, opened),
  ...routes(raiseOperations, raises, opened),
  ...routes(access, manageAccess, opened),
  ...routes(alerts, readAlerts, opened),
  ...routes(reports, { ...manageReports, sendReport }, opened),
];

import { randomBytes } from 'node:crypto';
import type { Logger } from '@aws-lambda-powertools/logger';
import { uuidv7 } from 'uuidv7';
import type * as z from 'zod/mini';
import { openAccountTerms } from '../data/accounts/account-terms.ts';
import { openAccounts } from '../data/accounts/accounts.ts';
import { openDeclaredDimensions } from '../data/accounts/declared-dimensions.ts';
import { openBlockCopies } from '../data/accounts/key-copies.ts';
import { openOwnPrices } from '../data/accounts/own-prices.ts';
import { openProjects } from '../data/accounts/projects.ts';
import { openSavedViews } from '../data/accounts/saved-views.ts';
import { openServiceKeys } from '../data/accounts/service-keys.ts';
import { openUsers } from '../data/accounts/users.ts';
import { openAlerts } from '../data/alerts/alerts.ts';
import { openBlocks } from '../data/alerts/blocks.ts';
import { openRules } from '../data/alerts/rules.ts';
import { openDestinations } from '../data/exports/destinations.ts';
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
import { newAccountKey } from '../domain/accounts/issued-secret.ts';
import type { settingsEnvironment } from '../environment.ts';
import { openMail } from '../integrations/mail.ts';
import { openObjectReader } from '../integrations/object-reader.ts';
import { webhookAccess, webhookPoster, webhookUrlProblem } from '../integrations/webhook.ts';
import { openBounds } from './read-bounds.ts';

/** The dependencies of the operations of `settingsRoutes`. */
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
    webhookUrlProblem: (url: string) => webhookUrlProblem(url, webhooks),
    newId: uuidv7,
    newSecret: () => `whsec_${randomBytes(32).toString('base64url')}`,
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
    newAccountKey: () => newAccountKey(randomBytes),
    views: openSavedViews(table),
    reports: openReports(table),
    destinations: openDestinations(table),
    savingDecisions: openSavingDecisions(table),
    users: openUsers(table),
    dashboardUrl: environment.DASHBOARD_URL,
    postWebhook: webhookPoster(webhooks),
    ownPrices: openOwnPrices(table, nowMs),
    termsOf: openAccountTerms(table, nowMs).find,
    readContent: openContent(table, requests, logger, now),
    sendMail: openMail(environment),
    raises: openRaises(table),
    logger,
    now,
  };
};

export type Settings = ReturnType<typeof openSettings>;

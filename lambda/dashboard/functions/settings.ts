import { randomBytes } from 'node:crypto';
import { uuidv7 } from 'uuidv7';
import { openAccountTerms } from '../../data/accounts/account-terms.ts';
import { openAccounts } from '../../data/accounts/accounts.ts';
import { openBlockCopies } from '../../data/accounts/block-copies.ts';
import { openDeclaredDimensions } from '../../data/accounts/declared-dimensions.ts';
import { openOwnPrices } from '../../data/accounts/own-prices.ts';
import { openProjects } from '../../data/accounts/projects.ts';
import { openSavedViews } from '../../data/accounts/saved-views.ts';
import { openServiceKeys } from '../../data/accounts/service-keys.ts';
import { openUsers } from '../../data/accounts/users.ts';
import { openAlerts } from '../../data/alerts/alerts.ts';
import { openBlocks } from '../../data/alerts/blocks.ts';
import { openRules } from '../../data/alerts/rules.ts';
import { openReservations } from '../../data/ledger/reservations.ts';
import { openContent } from '../../data/reports/open-content.ts';
import { openReports } from '../../data/reports/reports.ts';
import { openSessions } from '../../data/spend/sessions.ts';
import { openSpend } from '../../data/spend/spend.ts';
import { newAccountKey } from '../../domain/accounts/account-key.ts';
import { settingsEnvironment } from '../../environment.ts';
import { httpStack } from '../../http/http-stack.ts';
import { route } from '../../http/operation.ts';
import { openMail } from '../../integrations/mail.ts';
import { postWebhook } from '../../integrations/webhook.ts';
import * as alerts from '../alerts/operations.ts';
import { acknowledgeAlert, getAlert, listAlerts } from '../alerts/read-alerts.ts';
import { declareDimensions, listDimensions } from '../dimensions/declare-dimensions.ts';
import * as dimensions from '../dimensions/operations.ts';
import { changeKey, createKey, listKeys, revokeKey, rotateKey } from '../keys/manage-keys.ts';
import { createProject, deleteProject, listProjects, renameProject } from '../keys/manage-projects.ts';
import * as keys from '../keys/operations.ts';
import { writePolicy } from '../limits/block-policy.ts';
import * as budgets from '../limits/budget-operations.ts';
import {
  createBudget,
  deleteBudget,
  getBudget,
  listBudgets,
  previewBudget,
  updateBudget,
} from '../limits/manage-budgets.ts';
import { createPause, endPause, listPauses } from '../limits/manage-pauses.ts';
import { createRule, deleteRule, getRule, listRules, previewRule, updateRule } from '../limits/manage-rules.ts';
import { openBounds } from '../limits/read-bounds.ts';
import { ruleChanges } from '../limits/rule-changes.ts';
import * as rules from '../limits/rule-operations.ts';
import { testRule } from '../limits/test-rule.ts';
import { openFunction } from '../open-function.ts';
import { createPrice, deletePrice, listPrices, setCurrency, updatePrice } from '../prices/manage-prices.ts';
import * as prices from '../prices/operations.ts';
import {
  changeReportCalendar,
  createReport,
  deleteReport,
  getReport,
  listReports,
  updateReport,
} from '../reports/manage-reports.ts';
import * as reports from '../reports/operations.ts';
import { sendReport } from '../reports/send-report.ts';
import { changeView, createView, deleteView, listViews } from '../views/manage-views.ts';
import * as views from '../views/operations.ts';

const environment = settingsEnvironment.parse(process.env);
const { table, options } = openFunction('dashboard-settings', environment);
const declared = openDeclaredDimensions(table);
const opened = {
  ...ruleChanges,
  alerts: openAlerts(table),
  rules: openRules(table),
  blocks: openBlocks(table),
  blockCopies: openBlockCopies(table),
  reservations: openReservations(table),
  keys: openServiceKeys(table),
  accounts: openAccounts(table),
  projects: openProjects(table),
  dimensions: declared,
  findDeclared: declared.find,
  readBounds: openBounds(table),
  readCounters: openSpend(table, { isTimed: true }).read,
  readSessions: openSessions(table).read,
  newPauseId: uuidv7,
  newKeyId: uuidv7,
  newProjectId: uuidv7,
  newViewId: uuidv7,
  newAccountKey: () => newAccountKey(randomBytes),
  views: openSavedViews(table),
  reports: openReports(table),
  users: openUsers(table),
  dashboardUrl: environment.DASHBOARD_URL,
  postWebhook,
};
const ruleSettings = { ...opened, writePolicy: (accountId: string) => writePolicy(opened, accountId) };
const ownPrices = { ...opened, store: openOwnPrices(table), termsOf: openAccountTerms(table).find, newId: uuidv7 };
const sending = { ...opened, readContent: openContent(table, opened.now), sendMail: openMail(environment) };

/** Serves what an account sets: limits and what they found, keys and projects, dimensions, prices, views, reports. */
export const handler = httpStack(
  [
    route(keys.listKeys, listKeys(opened)),
    route(keys.createKey, createKey(opened)),
    route(keys.changeKey, changeKey(opened)),
    route(keys.rotateKey, rotateKey(opened)),
    route(keys.revokeKey, revokeKey(opened)),
    route(keys.listProjects, listProjects(opened)),
    route(keys.createProject, createProject(opened)),
    route(keys.renameProject, renameProject(opened)),
    route(keys.deleteProject, deleteProject(opened)),
    route(dimensions.listDimensions, listDimensions(opened)),
    route(dimensions.declareDimensions, declareDimensions(opened)),
    route(prices.listPrices, listPrices(ownPrices)),
    route(prices.createPrice, createPrice(ownPrices)),
    route(prices.updatePrice, updatePrice(ownPrices)),
    route(prices.deletePrice, deletePrice(ownPrices)),
    route(prices.setCurrency, setCurrency(ownPrices)),
    route(views.listViews, listViews(opened)),
    route(views.createView, createView(opened)),
    route(views.changeView, changeView(opened)),
    route(views.deleteView, deleteView(opened)),
    route(rules.listRules, listRules(ruleSettings)),
    route(rules.getRule, getRule(ruleSettings)),
    route(rules.createRule, createRule(ruleSettings)),
    route(rules.previewRule, previewRule(ruleSettings)),
    route(rules.updateRule, updateRule(ruleSettings)),
    route(rules.deleteRule, deleteRule(ruleSettings)),
    route(rules.testRule, testRule(opened)),
    route(budgets.listBudgets, listBudgets(opened)),
    route(budgets.getBudget, getBudget(opened)),
    route(budgets.createBudget, createBudget(opened)),
    route(budgets.previewBudget, previewBudget(opened)),
    route(budgets.updateBudget, updateBudget(opened)),
    route(budgets.deleteBudget, deleteBudget(opened)),
    route(budgets.listPauses, listPauses(opened)),
    route(budgets.createPause, createPause(opened)),
    route(budgets.endPause, endPause(opened)),
    route(alerts.listAlerts, listAlerts(opened)),
    route(alerts.getAlert, getAlert(opened)),
    route(alerts.acknowledgeAlert, acknowledgeAlert(opened)),
    route(reports.listReports, listReports(opened)),
    route(reports.changeReportCalendar, changeReportCalendar(opened)),
    route(reports.getReport, getReport(opened)),
    route(reports.createReport, createReport(opened)),
    route(reports.updateReport, updateReport(opened)),
    route(reports.sendReport, sendReport(sending)),
    route(reports.deleteReport, deleteReport(opened)),
  ],
  options,
);

import { routes } from '../http/operation.ts';
import * as alerts from './alerts/operations.ts';
import * as readAlerts from './alerts/read-alerts.ts';
import * as declareDimensions from './dimensions/declare-dimensions.ts';
import * as dimensions from './dimensions/operations.ts';
import * as destinations from './exports/destination-operations.ts';
import * as manageDestinations from './exports/manage-destinations.ts';
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
import * as rules from './limits/rule-operations.ts';
import type { Settings } from './open-settings.ts';
import * as managePrices from './prices/manage-prices.ts';
import * as prices from './prices/operations.ts';
import * as manageReports from './reports/manage-reports.ts';
import * as reports from './reports/operations.ts';
import * as decide from './savings/decide.ts';
import * as decisions from './savings/decision-operations.ts';
import * as manageViews from './views/manage-views.ts';
import * as views from './views/operations.ts';

/** The settings of an account: limits and their alerts, keys and projects, dimensions, prices, views, reports, destinations. */
export const settingsRoutes = (opened: Settings) => [
  ...routes(keys, { ...manageKeys, ...manageProjects }, opened),
  ...routes(dimensions, declareDimensions, opened),
  ...routes(prices, managePrices, opened),
  ...routes(views, manageViews, opened),
  ...routes(decisions, decide, opened),
  ...routes(rules, manageRules, opened),
  ...routes(budgets, { ...manageBudgets, ...managePauses, setLimitOverride, removeLimitOverride }, opened),
  ...routes(raiseOperations, raises, opened),
  ...routes(access, manageAccess, opened),
  ...routes(alerts, readAlerts, opened),
  ...routes(destinations, manageDestinations, opened),
  ...routes(reports, manageReports, opened),
];

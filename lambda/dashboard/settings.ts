import { routes } from '../http/operation.ts';
import * as alerts from './alerts/operations.ts';
import { manageAlerts } from './alerts/read-alerts.ts';
import { manageDimensions } from './dimensions/declare-dimensions.ts';
import * as dimensions from './dimensions/operations.ts';
import * as destinations from './exports/destination-operations.ts';
import { manageDestinations } from './exports/manage-destinations.ts';
import { manageKeys } from './keys/manage-keys.ts';
import { manageProjects } from './keys/manage-projects.ts';
import * as keys from './keys/operations.ts';
import * as access from './limits/access-operations.ts';
import * as budgets from './limits/budget-operations.ts';
import { changeOverrides } from './limits/limit-values.ts';
import { manageAccess } from './limits/manage-access.ts';
import { manageBudgets } from './limits/manage-budgets.ts';
import { managePauses } from './limits/manage-pauses.ts';
import { manageRules } from './limits/manage-rules.ts';
import * as raises from './limits/raise-operations.ts';
import { manageRaises } from './limits/raises.ts';
import * as rules from './limits/rule-operations.ts';
import type { Settings } from './open-settings.ts';
import { managePrices } from './prices/manage-prices.ts';
import * as prices from './prices/operations.ts';
import { manageReports } from './reports/manage-reports.ts';
import * as reports from './reports/operations.ts';
import { decideSavings } from './savings/decide.ts';
import * as decisions from './savings/decision-operations.ts';
import { manageViews } from './views/manage-views.ts';
import * as views from './views/operations.ts';

/** The settings of an account: limits and their alerts, keys and projects, dimensions, prices, views, reports, destinations. */
export const settingsRoutes = (opened: Settings) => [
  ...routes(keys, { ...manageKeys(opened), ...manageProjects(opened) }),
  ...routes(dimensions, manageDimensions(opened)),
  ...routes(prices, managePrices(opened)),
  ...routes(views, manageViews(opened)),
  ...routes(decisions, decideSavings(opened)),
  ...routes(rules, manageRules(opened)),
  ...routes(budgets, { ...manageBudgets(opened), ...managePauses(opened), ...changeOverrides(opened) }),
  ...routes(raises, manageRaises(opened)),
  ...routes(access, manageAccess(opened)),
  ...routes(alerts, manageAlerts(opened)),
  ...routes(destinations, manageDestinations(opened)),
  ...routes(reports, manageReports(opened)),
];

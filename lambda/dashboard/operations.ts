import type { Operation } from '../http/operation.ts';
import * as account from './account/operations.ts';
import * as alerts from './alerts/operations.ts';
import * as archives from './archives/operations.ts';
import * as audit from './audit/operations.ts';
import * as auth from './auth/operations.ts';
import * as billing from './billing/operations.ts';
import * as dimensions from './dimensions/operations.ts';
import * as destinations from './exports/destination-operations.ts';
import * as exports from './exports/operations.ts';
import * as keys from './keys/operations.ts';
import * as access from './limits/access-operations.ts';
import * as accessPreview from './limits/access-preview-operations.ts';
import * as budgets from './limits/budget-operations.ts';
import * as raises from './limits/raise-operations.ts';
import * as alertRules from './limits/rule-operations.ts';
import * as limitValues from './limits/value-operations.ts';
import * as mcp from './mcp/operations.ts';
import * as members from './members/operations.ts';
import * as metrics from './metrics/operations.ts';
import * as openapi from './openapi/operations.ts';
import * as priceChanges from './price-changes/operations.ts';
import * as prices from './prices/operations.ts';
import * as reconciliation from './reconciliation/operations.ts';
import * as reports from './reports/operations.ts';
import * as requests from './requests/operations.ts';
import * as decisions from './savings/decision-operations.ts';
import * as savings from './savings/operations.ts';
import * as sessions from './sessions/operations.ts';
import * as signOn from './sign-on/operations.ts';
import * as spend from './spend/operations.ts';
import * as stripeWebhook from './stripe-webhook/operations.ts';
import * as tokens from './tokens/operations.ts';
import * as views from './views/operations.ts';

/** The functions of the dashboard API, cut by what they may touch. `lambda/dashboard/functions/{name}.ts` serves its operations. */
export type FunctionName = 'identity' | 'reading' | 'settings' | 'files' | 'machine' | 'billing' | 'stripe-webhook';

/** The operations, in the order of the documentation, and the function that serves them. */
const resources: readonly (readonly [FunctionName, Readonly<Record<string, Operation>>])[] = [
  ['identity', auth],
  ['identity', account],
  ['files', archives],
  ['identity', members],
  ['identity', signOn],
  ['settings', keys],
  ['identity', tokens],
  ['reading', spend],
  ['reading', savings],
  ['settings', decisions],
  ['reading', metrics],
  ['files', reconciliation],
  ['files', exports],
  ['settings', destinations],
  ['settings', dimensions],
  ['settings', prices],
  ['reading', priceChanges],
  ['reading', requests],
  ['reading', sessions],
  ['settings', views],
  ['settings', alertRules],
  ['settings', budgets],
  ['settings', raises],
  ['settings', access],
  ['reading', accessPreview],
  ['reading', limitValues],
  ['settings', alerts],
  ['settings', reports],
  ['machine', mcp],
  ['billing', billing],
  ['reading', audit],
  ['stripe-webhook', stripeWebhook],
  ['reading', openapi],
];

/** Operations that take an API token as it is have a function of their own, whatever their resource. */
const served = resources.flatMap(([name, operations]) =>
  Object.values(operations).map((operation) => ({
    name: operation.access === 'machine' ? ('machine' as const) : name,
    operation,
  })),
);

export const operationsOf = (name: FunctionName): readonly Operation[] =>
  served.filter((each) => each.name === name).map(({ operation }) => operation);

/** Every operation of the dashboard API. */
export const operations: readonly Operation[] = served.map(({ operation }) => operation);

/** Descriptions of the operation groups, for the documentation. */
export const groups = {
  Authentication: 'Users and tokens.',
  Account: 'Everything an account has: as one archive, and its deletion.',
  Members: "The account's users, their roles, and invitations.",
  Keys: 'Service keys, which clients send with proxy requests.',
  Projects: 'Groups of service keys.',
  'Single sign-on': 'Sign-in by an identity provider.',
  'API tokens': 'Credentials for programs: scripts, CI jobs, dashboards.',
  Spend: 'Spend by provider, model, tag, key, client and declared dimensions.',
  Savings: 'Where money is wasted, and what a change would have cost.',
  Reconciliation: 'What providers billed, compared with what is on record.',
  Prices: "The account's own prices: discounts, commitments, credits, rates.",
  Exports: 'Days as files, for other tools.',
  Destinations: 'Addresses that follow spend.',
  Requests: 'The log of tracked requests.',
  Sessions: 'Requests by the session and the agent that sent them.',
  Views: 'Pages of the dashboard with their settings, under a name.',
  'Alert rules': 'Rules that trigger alerts.',
  Budgets: 'Amounts that spend should not pass, and what stops requests that would.',
  'Access rules': 'What keys may call: models, providers, and the highest price of a request.',
  Pauses: 'What is stopped for a time, by people and by rules.',
  Alerts: 'Alerts that were triggered.',
  Reports: 'Spend of a day, week or month, sent on a schedule.',
  Agents: 'Questions of AI agents, by the Model Context Protocol.',
  'Audit log': 'Who changed what, when and from where.',
  Billing: 'The plan, its limits and its purchase.',
  Meta: 'About this API.',
};

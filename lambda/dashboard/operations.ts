import type { Operation } from '../http/operation.ts';
import * as alertRules from './alert-rules/operations.ts';
import * as alerts from './alerts/operations.ts';
import * as auth from './auth/operations.ts';
import * as billing from './billing/operations.ts';
import * as keys from './keys/operations.ts';
import * as openapi from './openapi/operations.ts';
import * as requests from './requests/operations.ts';
import * as spend from './spend/operations.ts';
import * as spendExport from './spend-export/operations.ts';
import * as stripeWebhook from './stripe-webhook/operations.ts';

/**
 * The operations of each function of the dashboard API, by the name of its folder, in the order of the documentation. A new
 * function is a row here and its row of rights in lib/stacks/dashboard-api-resources.ts, which does not compile without it.
 */
const resources = {
  auth,
  keys,
  spend,
  'spend-export': spendExport,
  requests,
  'alert-rules': alertRules,
  alerts,
  billing,
  'stripe-webhook': stripeWebhook,
  openapi,
} as const satisfies Record<string, Record<string, Operation>>;

export type ResourceName = keyof typeof resources;

export const operationsOf = (name: ResourceName): readonly Operation[] => Object.values<Operation>(resources[name]);

/** Every operation of the dashboard API. */
export const operations: readonly Operation[] = (Object.keys(resources) as ResourceName[]).flatMap(operationsOf);

/** What the groups of operations are about, for the documentation. */
export const groups = {
  Authentication: 'Users and their tokens.',
  Keys: 'Service keys, which proxy requests are sent with.',
  Spend: 'What was spent, on what.',
  Requests: 'The log of tracked requests.',
  'Alert rules': 'What to be warned of.',
  Alerts: 'What there was to be warned of.',
  Billing: 'The plan, its limits, and buying another.',
  Meta: 'About this API.',
};

import type { Operation } from '../http/operation.ts';
import * as stripeWebhook from '../stripe-webhook/operations.ts';
import * as alertRules from './alert-rules/operations.ts';
import * as alerts from './alerts/operations.ts';
import * as auth from './auth/operations.ts';
import * as billing from './billing/operations.ts';
import * as keys from './keys/operations.ts';
import * as openapi from './openapi/operations.ts';
import * as requests from './requests/operations.ts';
import * as spend from './spend/operations.ts';
import * as spendExport from './spend-export/operations.ts';

/** Every operation of the dashboard API, in the order of its documentation. */
export const operations: readonly Operation[] = [
  auth,
  keys,
  spend,
  spendExport,
  requests,
  alertRules,
  alerts,
  billing,
  stripeWebhook,
  openapi,
].flatMap((resource) => Object.values<Operation>(resource));

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

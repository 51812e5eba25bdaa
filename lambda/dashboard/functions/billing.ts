import { billingEnvironment } from '../../environment.ts';
import { httpStack } from '../../http/http-stack.ts';
import { routes } from '../../http/operation.ts';
import { openStripe } from '../../integrations/stripe-billing.ts';
import { readPlan } from '../billing/billing-status.ts';
import { buyPlan } from '../billing/checkout.ts';
import * as operations from '../billing/operations.ts';
import { openBilling } from '../open-billing.ts';
import { openFunction } from '../open-function.ts';

const environment = billingEnvironment.parse(process.env);
const { logger, table, options } = openFunction('dashboard-billing', environment);
const opened = openBilling(table, environment, openStripe(environment), logger);

/** Serves the plan and its purchase: it calls Stripe. */
export const handler = httpStack(routes(operations, { ...readPlan(opened), ...buyPlan(opened) }), options);

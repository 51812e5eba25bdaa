import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import type { APIGatewayProxyResult, Context } from 'aws-lambda';
import Stripe from 'stripe';
import { listen, stopServer, urlOf } from '../../../fixtures/listen.ts';
import { settingsOf } from '../../../fixtures/open-dashboard.ts';
import { readPlan } from '../../../lambda/dashboard/billing/billing-status.ts';
import { buyPlan } from '../../../lambda/dashboard/billing/checkout.ts';
import * as billing from '../../../lambda/dashboard/billing/operations.ts';
import { manageKeys } from '../../../lambda/dashboard/keys/manage-keys.ts';
import * as keys from '../../../lambda/dashboard/keys/operations.ts';
import { openBilling } from '../../../lambda/dashboard/open-billing.ts';
import { billingReader, receiveEvent } from '../../../lambda/dashboard/stripe-webhook/receive-event.ts';
import { webhookStack } from '../../../lambda/dashboard/stripe-webhook/webhook-stack.ts';
import { openBillingAccounts } from '../../../lambda/data/billing/billing-accounts.ts';
import { openBillingEvents } from '../../../lambda/data/billing/billing-events.ts';
import { openBillingSync } from '../../../lambda/data/billing/billing-sync.ts';
import type { Table } from '../../../lambda/data/table/table.ts';
import { type PriceIds, priceList } from '../../../lambda/domain/billing/price-list.ts';
import { route, routes } from '../../../lambda/http/operation.ts';
import { stripeBilling } from '../../../lambda/integrations/stripe-billing.ts';
import {
  type CachedSecret,
  STRIPE_API_VERSION,
  type StripeCall,
  stripeCaller,
} from '../../../lambda/integrations/stripe-client.ts';
import { stripeEventReader } from '../../../lambda/integrations/stripe-webhook-event.ts';
import { startLocalStripe } from '../../../local/stripe/server.ts';
import { apiEvent, invoke, serve, silentLogger } from '../../http/invoke.ts';

const API_KEY = 'sk_test_local';
const WEBHOOK_SECRET = 'whsec_test';

const allSold: PriceIds = {
  STARTER: ['price_local_starter'],
  PRO: ['price_local_pro'],
  SCALE: ['price_local_scale'],
};
export const prices = priceList(allSold);

const fixedSecret = (value: string): CachedSecret => ({ read: async () => value, reread: async () => value });

/** The HTTP server of a webhook. Its handler is set later, because the local Stripe needs the address before the handler exists. */
const webhookServer = async () => {
  let receive: (body: string, signature: string) => Promise<number> = async () => 503;
  const server = createServer(async (request, response) => {
    const status = await receive(await text(request), String(request.headers['stripe-signature']));
    response.writeHead(status).end();
  });
  await listen(server);
  return {
    url: `${urlOf(server)}/api/billing/webhook`,
    handleWith: (handler: typeof receive) => {
      receive = handler;
    },
    stop: () => stopServer(server),
  };
};

/** The billing functions with a table and a local Stripe, composed as in their entries. */
export const billingHost = async (
  table: Table,
  options: {
    readonly delivers: boolean;
    readonly wrapCall?: (call: StripeCall) => StripeCall;
    readonly sold?: PriceIds;
    /** Milliseconds. */
    readonly now?: () => number;
  } = { delivers: true },
) => {
  const webhook = await webhookServer();
  const localStripe = await startLocalStripe({
    apiKey: API_KEY,
    endpoint: options.delivers
      ? { url: webhook.url, signingSecret: WEBHOOK_SECRET, retryDelayMs: () => 50 }
      : undefined,
  });
  const { wrapCall = (call) => call, sold = allSold, now = Date.now } = options;
  const prices = priceList(sold);
  const stripe = stripeBilling(wrapCall(stripeCaller(localStripe.url, fixedSecret(API_KEY))));
  const accounts = openBillingAccounts(table);
  const logger = silentLogger();
  const sync = openBillingSync(table, billingReader(stripe, prices));
  const environment = {
    STRIPE_PRICES: prices,
    CHECKOUT_SUCCESS_URL: 'https://app.acme.dev/paid?session={CHECKOUT_SESSION_ID}',
    CHECKOUT_CANCEL_URL: 'https://app.acme.dev/plans',
    PORTAL_RETURN_URL: 'https://app.acme.dev/billing',
  };
  const opened = openBilling(table, environment, stripe, logger, () => new Date(now()));
  const dashboard = serve(
    [
      ...routes(billing, { ...readPlan(opened), ...buyPlan(opened) }),
      route(keys.createKey, manageKeys(settingsOf(table, () => new Date())).createKey),
    ],
    { logger },
  );
  const webhookHandler = webhookStack(
    receiveEvent({
      readEvent: stripeEventReader(fixedSecret(WEBHOOK_SECRET)),
      events: openBillingEvents(table),
      accounts,
      sync,
      stripe,
      logger,
    }),
    logger,
  ) as unknown as (event: object, context: Context) => Promise<APIGatewayProxyResult>;
  const receive = async (payload: string, signature: string): Promise<number> => {
    const event = apiEvent({
      method: 'POST',
      path: '/api/billing/webhook',
      rawBody: payload,
      headers: { 'Stripe-Signature': signature },
    });
    return (await webhookHandler(event, {} as Context)).statusCode;
  };
  webhook.handleWith(receive);

  const { hostname, port } = new URL(localStripe.url);
  return {
    localStripe,
    /** Stripe's API for the test itself: to list subscriptions, delete customers and so on. */
    api: new Stripe(API_KEY, {
      apiVersion: STRIPE_API_VERSION,
      host: hostname,
      port,
      protocol: 'http',
      telemetry: false,
    }),
    stripe,
    sync,
    logger,
    /** Delivers an event as Stripe does, with a current signature. */
    deliver: (payload: string): Promise<number> =>
      receive(payload, Stripe.webhooks.generateTestHeaderString({ payload, secret: WEBHOOK_SECRET })),
    as: (caller: { readonly accountId: string; readonly userId: string }) => {
      const call = (method: string, path: string, body?: object) =>
        invoke(dashboard, { method, path, caller, ...(body && { body }) });
      return {
        status: async () => (await call('GET', '/api/billing/status')).body,
        prices: async () => (await call('GET', '/api/billing/prices')).body.items,
        checkout: (plan: string) => call('POST', '/api/billing/checkout', { plan }),
        portal: () => call('POST', '/api/billing/portal'),
        createKey: (name: string) => call('POST', '/api/keys', { name }),
      };
    },
    stop: async () => {
      await localStripe.stop();
      await webhook.stop();
    },
  };
};

export type BillingHost = Awaited<ReturnType<typeof billingHost>>;

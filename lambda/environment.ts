import * as z from 'zod/mini';
import { registrations } from './domain/accounts/registration.ts';
import { paidPlanNames, priceList } from './domain/billing/price-list.ts';
import { feedSources } from './domain/price/feed/feed-sources.ts';

/*
 * The environment of each function, declared once: `lib` takes the variables from a schema, and the function parses them with it. Values
 * are text; secrets are never among them. The gateway declares its own in lambda/gateway/environment.ts, without a schema library.
 */

const text = z.string().check(z.minLength(1));
const wholeNumber = (digits: number) =>
  z.pipe(z.string().check(z.regex(new RegExp(`^\\d{1,${digits}}$`))), z.transform(Number));
const json = z.pipe(
  z.string(),
  z.transform((value): unknown => JSON.parse(value)),
);

/** The gateway reads these in a container, apart from AWS's variables and the gateway's own. */
export const containerEnvironment = z.object({
  PORT: z._default(wholeNumber(5), 8_080),
  /** The time that open requests have once the process has to stop. It must be shorter than the orchestrator's stop time-out. */
  DRAIN_MS: z._default(wholeNumber(9), 110_000),
  /** How long a connection of the load balancer stays open between two requests: longer than the load balancer keeps it. */
  KEEP_ALIVE_MS: z.optional(wholeNumber(9)),
});

/** Functions that write metrics. */
export const metricsEnvironment = z.object({
  TABLE_NAME: text,
  /** `AiSpendGateway/{stage}`: stages of one account share nothing. Powertools reads it. */
  POWERTOOLS_METRICS_NAMESPACE: text,
});

export const sweepEnvironment = z.extend(metricsEnvironment, {
  /** Jobs of the rule evaluator's workers: accounts whose budgets must be judged. */
  JOB_QUEUE_URL: text,
});

export const recorderEnvironment = z.extend(sweepEnvironment, {
  /** Dead letters of the usage queue: what can never be recorded. */
  DEAD_LETTER_QUEUE_URL: text,
});

export const repricingEnvironment = z.extend(metricsEnvironment, {
  /** Bucket of request records that have left the table. */
  OBJECT_BUCKET: text,
});

export const exporterEnvironment = z.extend(metricsEnvironment, {
  /** Bucket of exports, and of request records that have left the table. */
  OBJECT_BUCKET: text,
  /** How many days request records stay in the table at least; empty: for their whole retention. */
  REQUEST_TABLE_DAYS: z.pipe(
    z.string().check(z.regex(/^\d{0,3}$/)),
    z.transform((days) => (days === '' ? null : Number(days))),
  ),
});

export const priceFeedEnvironment = z.extend(metricsEnvironment, {
  /** JSON object `{source: URL}` of where prices are published; a source that is left out is not read. */
  PRICE_FEED_SOURCES: z.pipe(json, z.partialRecord(z.enum(feedSources), z.url())),
});

/** Functions that send mail. */
export const mailEnvironment = z.object({
  /** An address that SES has verified, or one of a verified domain. */
  MAIL_FROM: z.string().check(z.minLength(3)),
  /** SES's configuration set: its bounces and complaints come back. */
  MAIL_CONFIGURATION_SET: text,
  /** URL for links in mails, without a trailing slash. */
  DASHBOARD_URL: z.url(),
});

/** Functions that call users' webhooks. */
const webhookEnvironment = z.object({
  /** JSON object of what may be called beyond port 443 of public addresses. */
  WEBHOOK_TARGETS: z.pipe(json, z.object({ ports: z.array(z.number()), internalHosts: z.array(text) })),
});

export const evaluatorEnvironment = z.extend(metricsEnvironment, {
  ...mailEnvironment.shape,
  ...webhookEnvironment.shape,
  /** Jobs of the evaluator's workers. */
  JOB_QUEUE_URL: text,
});

export const mailFeedbackEnvironment = z.object({ TABLE_NAME: text });

/** Functions that read providers' bills. */
export const billEnvironment = z.object({
  /** The names of secrets with credentials begin with it. */
  BILL_SECRET_PREFIX: text,
  /** JSON object `{label: origin}` of providers that are somewhere else than the table of providers says. */
  UPSTREAM_ORIGINS: z.pipe(
    z.pipe(json, z.record(z.string(), z.url())),
    z.transform((origins) => new Map(Object.entries(origins))),
  ),
});

/** Functions that call Stripe. */
export const stripeEnvironment = z.object({
  TABLE_NAME: text,
  /** `https://api.stripe.com`, or a fake in test stages. */
  STRIPE_API_ORIGIN: z.url(),
  /** Secrets Manager id of the API key. */
  STRIPE_API_KEY_SECRET_ID: text,
  /** JSON object `{plan: [price id, …]}`. The first price is sold; the others belong to subscriptions sold earlier. */
  STRIPE_PRICES: z.pipe(
    z.pipe(json, z.partialRecord(z.enum(paidPlanNames), z.array(text))),
    z.transform((priceIds) => priceList(priceIds)),
  ),
});

export const reconcileEnvironment = z.extend(stripeEnvironment, metricsEnvironment.shape);

export const accountJobsEnvironment = z.extend(reconcileEnvironment, {
  ...webhookEnvironment.shape,
  ...billEnvironment.shape,
  USER_POOL_ID: text,
  OBJECT_BUCKET: text,
  /** Between the steps of a deletion, so that caches forget the account and what is in flight ends: 20 minutes on AWS, less in tests. */
  DELETION_PAUSE_SECONDS: wholeNumber(6),
});

/** Functions of the dashboard API behind its authorizer. */
const dashboardEnvironment = z.object({
  TABLE_NAME: text,
  /** Comma-separated origins from which browsers may call; empty for none. */
  CORS_ORIGINS: z.pipe(
    z.string(),
    z.transform((origins) => origins.split(',').filter((origin) => origin !== '')),
  ),
  /** The app client whose tokens are accepted. */
  USER_POOL_CLIENT_ID: text,
});

export const identityEnvironment = z.extend(dashboardEnvironment, {
  ...mailEnvironment.shape,
  USER_POOL_ID: text,
  /** URL of the pool's public keys, if they are not at its issuer. */
  USER_POOL_JWKS_URI: z.optional(z.url()),
  /** Who may get a login. */
  REGISTRATION: z.enum(registrations),
  /** How long the deletion of an account can be cancelled: seven days on AWS, less in tests. */
  DELETION_GRACE_SECONDS: wholeNumber(9),
  /** Origin of the user pool's domain; empty without identity providers. */
  SIGN_ON_ORIGIN: z.string(),
  /** JSON object `{provider: {domains, verifiesAddresses}}`. */
  SIGN_ON_PROVIDERS: z.pipe(
    json,
    z.record(z.string(), z.object({ domains: z.array(z.string()), verifiesAddresses: z.boolean() })),
  ),
});

/** Functions that only read: for people, and for machines. */
export const readingEnvironment = z.extend(dashboardEnvironment, {
  /** Bucket of exports, and of request records that have left the table. */
  OBJECT_BUCKET: text,
});

export const settingsEnvironment = z.extend(readingEnvironment, {
  ...mailEnvironment.shape,
  ...webhookEnvironment.shape,
});

export const filesEnvironment = z.extend(readingEnvironment, billEnvironment.shape);

export const billingEnvironment = z.extend(dashboardEnvironment, {
  ...stripeEnvironment.shape,
  /** Pages that Stripe redirects users back to; empty if nothing is sold. */
  CHECKOUT_SUCCESS_URL: z.string(),
  CHECKOUT_CANCEL_URL: z.string(),
  PORTAL_RETURN_URL: z.string(),
});

export const stripeWebhookEnvironment = z.extend(stripeEnvironment, {
  /** Secrets Manager id of the webhook's signing secrets: one, or two during a rotation. */
  STRIPE_WEBHOOK_SECRETS_ID: text,
});

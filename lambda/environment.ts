/**
 * The environment variables of each function. `lib` sets them, `lambda` parses them once per function; this module has types
 * only. Values are strings. Secrets are never among them.
 */

export interface GatewayEnvironment {
  TABLE_NAME: string;
  USAGE_QUEUE_URL: string;
  /** `{label}.{GATEWAY_DOMAIN}` are the gateway hosts. */
  GATEWAY_DOMAIN: string;
  /** JSON array of the origins whose pages may call the gateway from a browser; none without it. */
  ALLOWED_ORIGINS?: string;
  /** Secrets Manager id of the HMAC key for fingerprints of provider credentials. */
  FINGERPRINT_SECRET_ID: string;
  /** Seconds before an open event reaches the recorder: 900 on AWS, less in tests. */
  OPEN_EVENT_DELAY_SECONDS: string;
  CONNECT_TIMEOUT_MS: string;
  HEADERS_TIMEOUT_MS: string;
  IDLE_TIMEOUT_MS: string;
  /** JSON object `{label: origin}` that replaces the origins of providers: `{}` in production, mocks in tests. */
  UPSTREAM_ORIGINS: string;
}

/** What the gateway reads in a container, apart from the gateway's own variables. */
export interface ContainerEnvironment {
  AWS_REGION: string;
  PORT: string;
  /** How long open requests may last once the process has to stop. */
  DRAIN_MS: string;
  /** How long a connection of the load balancer stays open between two requests: longer than the load balancer keeps it. */
  KEEP_ALIVE_MS: string;
}

/** Variables of every function that writes metrics. */
interface MetricsEnvironment {
  /** `AiSpendGateway/{stage}`: stages of one account share nothing. Powertools reads it. */
  POWERTOOLS_METRICS_NAMESPACE: string;
}

export interface RecorderEnvironment extends MetricsEnvironment {
  TABLE_NAME: string;
}

export interface QueueRecorderEnvironment extends RecorderEnvironment {
  /** Jobs of the rule evaluator's workers: accounts whose budgets must be judged. */
  JOB_QUEUE_URL: string;
  /** Dead letters of the usage queue: what can never be recorded. */
  DEAD_LETTER_QUEUE_URL: string;
}

export interface RepricingEnvironment extends RecorderEnvironment {
  /** Bucket of request records that have left the table. */
  OBJECT_BUCKET: string;
}

export interface ExporterEnvironment extends RecorderEnvironment {
  /** Bucket of exports, and of request records that have left the table. */
  OBJECT_BUCKET: string;
  /** How many days request records stay in the table at least; empty: for their whole retention. */
  REQUEST_TABLE_DAYS: string;
}

export interface PriceFeedEnvironment extends MetricsEnvironment {
  TABLE_NAME: string;
  /** JSON object `{source: URL}` of where prices are published; a source that is left out is not read. */
  PRICE_FEED_SOURCES: string;
}

export interface ApiEnvironment {
  /** Comma-separated origins from which browsers may call the dashboard API; empty for none. */
  CORS_ORIGINS: string;
}

export interface DashboardEnvironment extends ApiEnvironment {
  TABLE_NAME: string;
  /** The app client whose tokens are accepted. */
  USER_POOL_CLIENT_ID: string;
}

/** Variables of every function that reads providers' bills. */
export interface BillEnvironment {
  /** Of the names of secrets with credentials. */
  BILL_SECRET_PREFIX: string;
  /** JSON object `{label: origin}` of providers that are somewhere else than the table of providers says. */
  UPSTREAM_ORIGINS: string;
}

export interface ReconciliationEnvironment extends DashboardEnvironment, BillEnvironment {}

/** Variables of functions that read objects: exports, or request records that have left the table. */
export interface ObjectsEnvironment extends DashboardEnvironment {
  OBJECT_BUCKET: string;
}

/** Variables of every function that sends mail. */
interface MailEnvironment {
  /** Sender: an address that SES has verified, or one of a verified domain. */
  MAIL_FROM: string;
  /** SES's configuration set: its bounces and complaints come back. */
  MAIL_CONFIGURATION_SET: string;
}

export interface AuthEnvironment extends DashboardEnvironment, MailEnvironment {
  USER_POOL_ID: string;
  /** URL of the pool's public keys, if they are not at its issuer. */
  USER_POOL_JWKS_URI?: string;
  /** Who may get a login: `open`, `invite` or `closed`. */
  REGISTRATION: string;
  /** URL for links in mails, without a trailing slash. */
  DASHBOARD_URL: string;
}

export interface AccountEnvironment extends Omit<AuthEnvironment, 'USER_POOL_JWKS_URI' | 'REGISTRATION'> {
  /** Bucket of archives. */
  OBJECT_BUCKET: string;
  /** How long the deletion of an account can be cancelled: seven days on AWS, less in tests. */
  DELETION_GRACE_SECONDS: string;
}

export interface AccountJobsEnvironment extends MetricsEnvironment, StripeEnvironment, BillEnvironment {
  USER_POOL_ID: string;
  OBJECT_BUCKET: string;
  /** Between the steps of a deletion, so that caches forget the account and what is in flight ends: 20 minutes on AWS, less in tests. */
  DELETION_PAUSE_SECONDS: string;
}

export interface MembersEnvironment extends Omit<AuthEnvironment, 'USER_POOL_JWKS_URI' | 'REGISTRATION'> {
  /** URL for links in mails, without a trailing slash. */
  DASHBOARD_URL: string;
}

export interface SignOnEnvironment extends DashboardEnvironment, MailEnvironment {
  USER_POOL_ID: string;
  /** Of the user pool's domain; empty without identity providers. */
  SIGN_ON_ORIGIN: string;
  /** The dashboard, without a trailing slash: a page of it gets the code of a sign-in. */
  DASHBOARD_URL: string;
  /** JSON object `{provider: {domains, verifiesAddresses}}`. */
  SIGN_ON_PROVIDERS: string;
}

export interface TokensEnvironment extends DashboardEnvironment {
  USER_POOL_ID: string;
}

export interface AlertRulesEnvironment extends DashboardEnvironment {
  /** URL for links in test messages, without a trailing slash. */
  DASHBOARD_URL: string;
}

export interface ReportsEnvironment extends DashboardEnvironment, MailEnvironment {
  /** URL for links in reports, without a trailing slash. */
  DASHBOARD_URL: string;
}

export interface RuleEvaluatorEnvironment extends MetricsEnvironment, MailEnvironment {
  TABLE_NAME: string;
  /** Jobs of the evaluator's workers. */
  JOB_QUEUE_URL: string;
  /** URL for links in mails, without a trailing slash. */
  DASHBOARD_URL: string;
}

export interface MailFeedbackEnvironment {
  TABLE_NAME: string;
}

/** Variables of every function that calls Stripe. */
export interface StripeEnvironment {
  TABLE_NAME: string;
  /** `https://api.stripe.com`, or a fake in test stages. */
  STRIPE_API_ORIGIN: string;
  /** Secrets Manager id of the API key. */
  STRIPE_API_KEY_SECRET_ID: string;
  /** JSON object `{plan: [price id, …]}`. The first price is sold; the others belong to subscriptions sold earlier. */
  STRIPE_PRICES: string;
}

export interface ReconcileEnvironment extends StripeEnvironment, MetricsEnvironment {}

export interface BillingEnvironment extends StripeEnvironment, DashboardEnvironment {
  /** URLs that Stripe redirects users back to; empty if nothing is sold. */
  CHECKOUT_SUCCESS_URL: string;
  CHECKOUT_CANCEL_URL: string;
  PORTAL_RETURN_URL: string;
}

export interface StripeWebhookEnvironment extends StripeEnvironment {
  /** Secrets Manager id of the webhook's signing secrets: one, or two during a rotation. */
  STRIPE_WEBHOOK_SECRETS_ID: string;
}

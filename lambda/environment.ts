/**
 * The environment variables of each function: one type-only module shared by `lib` (which sets them) and `lambda` (which
 * parses them once per function). Values are strings; what each must hold is said here. No secret is ever among them.
 */

export interface GatewayEnvironment {
  TABLE_NAME: string;
  USAGE_QUEUE_URL: string;
  /** `{label}.{GATEWAY_DOMAIN}` are the gateway hosts. */
  GATEWAY_DOMAIN: string;
  /** Secrets Manager id of the key that provider-credential fingerprints are made with. */
  FINGERPRINT_SECRET_ID: string;
  /** Seconds before an open event reaches the recorder: 900 on AWS, less in tests. */
  OPEN_EVENT_DELAY_SECONDS: string;
  CONNECT_TIMEOUT_MS: string;
  HEADERS_TIMEOUT_MS: string;
  IDLE_TIMEOUT_MS: string;
  /** JSON object `{label: origin}` that points providers elsewhere; `{}` in production, a mock in tests. */
  UPSTREAM_ORIGINS: string;
}

export interface RecorderEnvironment {
  TABLE_NAME: string;
}

export interface ApiEnvironment {
  /** Comma-separated origins that browsers may call the dashboard API from; empty for none. */
  CORS_ORIGINS: string;
}

export interface DashboardEnvironment extends ApiEnvironment {
  TABLE_NAME: string;
}

export interface AuthEnvironment extends DashboardEnvironment {
  USER_POOL_ID: string;
  USER_POOL_CLIENT_ID: string;
  /** Where the pool's public keys are, when not at its issuer. */
  USER_POOL_JWKS_URI?: string;
}

export interface RuleEvaluatorEnvironment {
  TABLE_NAME: string;
  /** Sender of alerts: an address or domain that SES has verified. */
  MAIL_FROM: string;
  /** Where mails link to; no slash at the end. */
  DASHBOARD_URL: string;
}

/** What every function that talks to Stripe is told. */
export interface StripeEnvironment {
  TABLE_NAME: string;
  /** `https://api.stripe.com`, or where a test stage has something in its place. */
  STRIPE_API_ORIGIN: string;
  /** Secrets Manager id of the API key. */
  STRIPE_API_KEY_SECRET_ID: string;
  /** JSON object `{plan: [price id, …]}`: the first is sold, the others are those of subscriptions sold before. */
  STRIPE_PRICES: string;
}

export interface BillingEnvironment extends StripeEnvironment, DashboardEnvironment {
  /** Where Stripe sends people back to; empty where nothing is sold. */
  CHECKOUT_SUCCESS_URL: string;
  CHECKOUT_CANCEL_URL: string;
  PORTAL_RETURN_URL: string;
}

export interface StripeWebhookEnvironment extends StripeEnvironment {
  /** Secrets Manager id of the webhook's signing secrets: one, or two while one replaces the other. */
  STRIPE_WEBHOOK_SECRETS_ID: string;
}

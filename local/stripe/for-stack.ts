import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { SecretsEmulator } from '../emulators/secrets.ts';
import { SetupError } from '../setup-error.ts';
import { localPrices } from './objects.ts';
import { startLocalStripe } from './server.ts';

export interface StripeOfStack {
  /** Variables of the functions that talk to Stripe. */
  readonly environment: Readonly<Record<string, string>>;
  /** The fake's page for people; undefined with the real Stripe. */
  readonly url: string | undefined;
  stop(): Promise<void>;
}

interface Options {
  readonly dataDir: string;
  readonly secrets: Pick<SecretsEmulator, 'ensure'>;
  /** Address of the stack, without a slash at the end. */
  readonly stackUrl: string;
  readonly variables?: Readonly<Record<string, string | undefined>>;
}

const MAX_RETRY_MS = 60_000;
const MAX_ATTEMPTS = 50;

const retryDelayMs = (attempt: number): number | undefined =>
  attempt >= MAX_ATTEMPTS ? undefined : Math.min(MAX_RETRY_MS, 500 * 2 ** attempt);

/** A secret's first value stays, so another value has another name. */
const secretFor = (secrets: Options['secrets'], name: string, value: string): string => {
  const id = `local/${name}-${createHash('sha256').update(value).digest('hex').slice(0, 8)}`;
  secrets.ensure({ id, value });
  return id;
};

/**
 * With STRIPE_SECRET_KEY, a test key, the functions talk to the real Stripe: STRIPE_WEBHOOK_SECRET is what `stripe listen
 * --forward-to …/api/billing/webhook` prints, and prices are set as STRIPE_PRICES. Without it, to one on this machine.
 *
 * @throws SetupError if the key would move money
 */
export const openStripe = async ({
  dataDir,
  secrets,
  stackUrl,
  variables = process.env,
}: Options): Promise<StripeOfStack> => {
  const pages = {
    CHECKOUT_SUCCESS_URL: `${stackUrl}/billing?checkout=completed`,
    CHECKOUT_CANCEL_URL: `${stackUrl}/billing?checkout=cancelled`,
    PORTAL_RETURN_URL: `${stackUrl}/billing`,
  };
  const secretsOf = (apiKey: string, webhookSecret: string) => ({
    STRIPE_API_KEY_SECRET_ID: secretFor(secrets, 'stripe-api-key', apiKey),
    STRIPE_WEBHOOK_SECRETS_ID: secretFor(secrets, 'stripe-webhook-secrets', webhookSecret),
  });

  const realKey = variables['STRIPE_SECRET_KEY'];
  if (realKey) {
    if (!/^(sk|rk)_test_/.test(realKey))
      throw new SetupError('STRIPE_SECRET_KEY must be a test key (sk_test_…): with a live one, money would move.');
    const environment = { ...pages, ...secretsOf(realKey, variables['STRIPE_WEBHOOK_SECRET'] ?? 'none') };
    return {
      environment: { ...environment, STRIPE_PRICES: variables['STRIPE_PRICES'] ?? '{}' },
      url: undefined,
      stop: async () => {},
    };
  }

  const apiKey = secrets.ensure({
    id: 'local/fake-stripe-key',
    value: `sk_test_${randomBytes(12).toString('hex')}`,
  });
  const signingSecret = secrets.ensure({
    id: 'local/fake-stripe-signing',
    value: `whsec_${randomBytes(16).toString('hex')}`,
  });
  const stripe = await startLocalStripe({
    apiKey,
    file: join(dataDir, 'stripe.json'),
    endpoint: { url: `${stackUrl}/api/billing/webhook`, signingSecret, retryDelayMs },
  });
  return {
    environment: {
      ...pages,
      ...secretsOf(apiKey, signingSecret),
      STRIPE_API_ORIGIN: stripe.url,
      STRIPE_PRICES: JSON.stringify(Object.fromEntries(localPrices.map(({ id, nickname }) => [nickname, [id]]))),
    },
    url: stripe.url,
    stop: stripe.stop,
  };
};

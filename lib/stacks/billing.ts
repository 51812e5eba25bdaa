import { CfnOutput, Duration, Stack } from 'aws-cdk-lib';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { Construct } from 'constructs';
import { reconcileEnvironment } from '../../lambda/environment.ts';
import type { StageSettings } from '../config.ts';
import { acknowledge } from '../constructs/acknowledge.ts';
import { grantReadSecret } from '../constructs/grants.ts';
import { ScheduledFunction, variablesOf } from '../constructs/handler-function.ts';
import { grantItems, type TableAccess } from '../constructs/table-access.ts';
import { INDEX_NAME } from './data.ts';
import { partitions } from './partitions.ts';
import type { StageResources, StripeAccess } from './resources.ts';

/** Permissions to update an account from Stripe: the account, the list of its keys, its status on every key, and the audit log. */
export const syncBilling: readonly TableAccess[] = [
  { actions: ['GetItem', 'Query'], partitions: partitions.accounts },
  { actions: ['BatchGetItem'], partitions: partitions.serviceKeys },
  { actions: ['UpdateItem'], partitions: [...partitions.accounts, ...partitions.serviceKeys] },
  { actions: ['GetItem', 'PutItem'], partitions: partitions.audit },
];

/** Stripe's secrets and the daily comparison with its subscriptions. The endpoints belong to the dashboard API. */
export class BillingStack extends Stack {
  readonly stripe: StripeAccess;
  readonly scheduled: readonly ScheduledFunction[];

  constructor(
    scope: Construct,
    id: string,
    { settings, variables, table }: Pick<StageResources, 'settings' | 'variables' | 'table'>,
  ) {
    super(scope, id);
    const { billing } = settings;
    const { DASHBOARD_URL: dashboardUrl } = variables;

    const apiKey = this.#secretOfStripe('StripeApiKey', settings, 'Stripe API key: put the key itself here');
    const webhookSecrets = this.#secretOfStripe(
      'StripeWebhookSecrets',
      settings,
      'Signing secret of the Stripe webhook; two, with a space between, while one replaces the other',
    );
    this.stripe = {
      variables: {
        STRIPE_API_ORIGIN: billing.stripeApiOrigin,
        STRIPE_API_KEY_SECRET_ID: apiKey.secretArn,
        STRIPE_PRICES: JSON.stringify(billing.prices),
        CHECKOUT_SUCCESS_URL: billing.successUrl ?? `${dashboardUrl}/billing?checkout=completed`,
        CHECKOUT_CANCEL_URL: billing.cancelUrl ?? `${dashboardUrl}/billing?checkout=cancelled`,
        PORTAL_RETURN_URL: billing.portalReturnUrl ?? `${dashboardUrl}/billing`,
      },
      apiKey,
      webhookSecrets,
    };

    const reconcile = new ScheduledFunction(this, 'Reconcile', {
      entry: 'lambda/dashboard/stripe-webhook/reconcile/handler.ts',
      description: 'Accounts against the subscriptions of Stripe',
      every: Duration.days(1),
      environment: variablesOf(reconcileEnvironment, { ...variables, ...this.stripe.variables }),
      timeout: Duration.minutes(15),
      memoryMb: 512,
      retention: settings.retention,
    });
    grantItems(
      reconcile,
      table,
      { actions: ['Query'], partitions: partitions.allStripeCustomers, index: INDEX_NAME },
      { actions: ['BatchGetItem'], partitions: partitions.accounts },
      ...syncBilling,
    );
    grantReadSecret(reconcile, apiKey);
    this.scheduled = [reconcile];
  }

  /** Starts as random text, which Stripe rejects; operators replace it with the value that Stripe shows. */
  #secretOfStripe(id: string, settings: StageSettings, description: string): Secret {
    const secret = new Secret(this, id, { description, removalPolicy: settings.retention.data });
    acknowledge(secret, {
      SMG4: 'Stripe makes it, so Stripe rolls it: the new one is put here by hand, and functions take it up within minutes.',
    });
    new CfnOutput(this, `${id}Arn`, { value: secret.secretArn, description });
    return secret;
  }
}

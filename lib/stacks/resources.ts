import type { IUserPool, IUserPoolClient } from 'aws-cdk-lib/aws-cognito';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import type { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import type * as z from 'zod/mini';
import type { SignOnProviders } from '../../lambda/domain/accounts/sign-on.ts';
import type { billingEnvironment } from '../../lambda/environment.ts';
import type { StageSettings } from '../config.ts';
import { metricNamespace } from '../constructs/log-line-count.ts';
import type { ObjectBucket } from '../constructs/object-bucket.ts';
import { billVariables } from './bill-credentials.ts';

export interface MailSending {
  readonly from: string;
  readonly configurationSetName: string;
}

/** Single sign-on, as the dashboard API needs to know it. */
export interface SignOnAccess {
  /** Origin of the user pool's domain; empty without identity providers. */
  readonly origin: string;
  readonly providers: SignOnProviders;
}

/** The variables of functions that call Stripe, and the secrets they may read. */
export interface StripeAccess {
  readonly variables: Omit<z.input<typeof billingEnvironment>, 'TABLE_NAME' | 'CORS_ORIGINS' | 'USER_POOL_CLIENT_ID'>;
  readonly apiKey: Secret;
  readonly webhookSecrets: Secret;
}

/** Variables of functions. Each gets those that its schema names: `variablesOf`. */
export const stageVariables = ({
  settings,
  table,
  objects,
  mail,
}: Pick<StageResources, 'settings' | 'table' | 'objects' | 'mail'>) => ({
  TABLE_NAME: table.tableName,
  OBJECT_BUCKET: objects.bucketName,
  POWERTOOLS_METRICS_NAMESPACE: metricNamespace(settings.name),
  MAIL_FROM: mail.from,
  MAIL_CONFIGURATION_SET: mail.configurationSetName,
  DASHBOARD_URL: settings.dashboardUrl ?? `https://${settings.dashboardDomain}`,
  WEBHOOK_TARGETS: JSON.stringify(settings.webhooks),
  ...billVariables(settings),
});

/** The settings of a stage, and what its stacks give to others. */
export interface StageResources {
  readonly settings: StageSettings;
  readonly variables: ReturnType<typeof stageVariables>;
  readonly table: ITable;
  readonly objects: ObjectBucket;
  readonly mail: MailSending;
  readonly userPool: IUserPool;
  readonly userPoolClient: IUserPoolClient;
  readonly signOn: SignOnAccess;
  readonly stripe: StripeAccess;
  readonly usageQueue: Queue;
  /** Jobs of the rule evaluator's workers. */
  readonly jobQueue: Queue;
}

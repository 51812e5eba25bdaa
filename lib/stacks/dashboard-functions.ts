import type { Stack } from 'aws-cdk-lib';
import type { IGrantable } from 'aws-cdk-lib/aws-iam';
import type * as z from 'zod/mini';
import type { FunctionName } from '../../lambda/dashboard/operations.ts';
import { DELETION_GRACE_DAYS } from '../../lambda/domain/billing/plans.ts';
import { DAY_SECONDS } from '../../lambda/domain/calendar/units.ts';
import { ARCHIVES, DAY_FILES, EXPORTS } from '../../lambda/domain/object-keys.ts';
import {
  billingEnvironment,
  filesEnvironment,
  identityEnvironment,
  readingEnvironment,
  settingsEnvironment,
  stripeWebhookEnvironment,
} from '../../lambda/environment.ts';
import { grantActions, grantObjects, grantReadSecret } from '../constructs/grants.ts';
import type { TableAccess } from '../constructs/table-access.ts';
import { grantBillCredentials } from './bill-credentials.ts';
import { syncBilling } from './billing.ts';
import { partitions } from './partitions.ts';
import type { StageResources } from './resources.ts';

/** The resources that functions of the dashboard API get. */
export type DashboardResources = Omit<StageResources, 'usageQueue' | 'jobQueue'>;

/** One function of the dashboard API: lambda/dashboard/operations.ts says which operations it serves. */
export interface DashboardFunction {
  readonly description: string;
  /** Schema of its variables. */
  readonly environment: z.ZodMiniObject;
  /** Its rights in the table. The stack adds the look-up of the caller where an authorizer checks the token. */
  readonly items: readonly TableAccess[];
  /** It sends mail. */
  readonly mails?: boolean;
  /** Its other permissions. */
  readonly grant?: (grantee: IGrantable, resources: DashboardResources, stack: Stack) => void;
  /** Name of a metric of failed requests, where they need their own alarm. */
  readonly failures?: string;
}

/** The variables of all functions, of which each gets those that its schema names. */
export const dashboardVariables = ({ settings, variables, userPool, ...others }: DashboardResources) => ({
  ...variables,
  ...others.stripe.variables,
  CORS_ORIGINS: settings.corsOrigins.join(','),
  USER_POOL_ID: userPool.userPoolId,
  USER_POOL_CLIENT_ID: others.userPoolClient.userPoolClientId,
  // Not chosen: nobody gets in. A deployment must choose, and one machine is open.
  REGISTRATION: settings.registration ?? 'closed',
  DELETION_GRACE_SECONDS: String(DELETION_GRACE_DAYS * DAY_SECONDS),
  SIGN_ON_ORIGIN: others.signOn.origin,
  SIGN_ON_PROVIDERS: JSON.stringify(others.signOn.providers),
  STRIPE_WEBHOOK_SECRETS_ID: others.stripe.webhookSecrets.secretArn,
});

/** The rights to read spend, requests, sessions and the prices of their time. */
const read: readonly TableAccess[] = [
  {
    actions: ['Query'],
    partitions: [...partitions.spend, ...partitions.accounts, ...partitions.requestLogs, ...partitions.sessions],
  },
  { actions: ['BatchGetItem'], partitions: partitions.requestLogs },
  { actions: ['GetItem'], partitions: [...partitions.accounts, ...partitions.prices] },
];

/** API Gateway responds with 404 to every path or method that no function serves. */
export const dashboardFunctions: Readonly<Record<FunctionName, DashboardFunction>> = {
  identity: {
    description: 'Dashboard API: registration, sign-in, members, API tokens, single sign-on, deletion of the account',
    environment: identityEnvironment,
    items: [
      { actions: ['Query'], partitions: partitions.accounts },
      { actions: ['BatchGetItem'], partitions: [...partitions.users, ...partitions.apiTokens] },
      {
        actions: ['GetItem', 'UpdateItem'],
        partitions: [...partitions.accounts, ...partitions.users, ...partitions.signOns, ...partitions.apiTokens],
      },
      // Keys have a copy of the role of their member.
      { actions: ['UpdateItem'], partitions: partitions.serviceKeys },
      // The last entry of the audit log is read before the next is written.
      { actions: ['GetItem', 'UpdateItem'], partitions: partitions.audit },
      // Account, key and user are made together, and all removed if one part fails. Each change is in the audit log.
      {
        actions: ['PutItem', 'DeleteItem', 'ConditionCheckItem'],
        partitions: [
          ...partitions.accounts,
          ...partitions.serviceKeys,
          ...partitions.users,
          ...partitions.audit,
          ...partitions.signOns,
          ...partitions.apiTokens,
        ],
      },
    ],
    mails: true,
    // Requesting and redeeming a reset code and ending a session need no permission: any client may do it.
    grant: (grantee, { userPool }) =>
      grantActions(
        grantee,
        userPool.userPoolArn,
        'cognito-idp:AdminCreateUser',
        'cognito-idp:AdminSetUserPassword',
        'cognito-idp:AdminInitiateAuth',
        'cognito-idp:AdminGetUser',
        'cognito-idp:AdminDeleteUser',
        'cognito-idp:AdminLinkProviderForUser',
        'cognito-idp:AdminUpdateUserAttributes',
        'cognito-idp:AdminUserGlobalSignOut',
        // The secret of the app client.
        'cognito-idp:DescribeUserPoolClient',
        // The second factor.
        'cognito-idp:AdminRespondToAuthChallenge',
        'cognito-idp:AdminSetUserMFAPreference',
      ),
  },
  reading: {
    description: 'Dashboard API: spend, requests, sessions, the audit log, its own description',
    environment: readingEnvironment,
    items: [
      ...read,
      { actions: ['Query'], partitions: [...partitions.audit, ...partitions.blocks] },
      // Values of limits.
      { actions: ['GetItem'], partitions: partitions.blocks },
    ],
    grant: (grantee, { objects }) => grantObjects(grantee, objects, [DAY_FILES], 's3:GetObject'),
  },
  settings: {
    description: 'Dashboard API: limits, alerts, keys, projects, dimensions, prices, views, reports',
    environment: settingsEnvironment,
    items: [
      // A report that is sent at once has what requests wasted, by the prices of now.
      {
        actions: ['Query'],
        partitions: [...partitions.accounts, ...partitions.spend, ...partitions.sessions, ...partitions.requestLogs],
      },
      {
        actions: ['GetItem'],
        partitions: [
          ...partitions.accounts,
          ...partitions.serviceKeys,
          ...partitions.blocks,
          ...partitions.audit,
          ...partitions.prices,
        ],
      },
      // The role of a member, which keys have a copy of.
      { actions: ['GetItem'], partitions: partitions.users },
      // A change is written with its entry in the audit log, and with its copies on the keys that it concerns.
      {
        actions: ['PutItem', 'UpdateItem', 'DeleteItem'],
        partitions: [...partitions.accounts, ...partitions.serviceKeys, ...partitions.audit],
      },
      {
        actions: ['PutItem', 'UpdateItem', 'DeleteItem'],
        partitions: [...partitions.blocks, ...partitions.pricedAccounts],
      },
      // A key is of somebody who is a member, and blocks are of limits that are still the same.
      {
        actions: ['ConditionCheckItem'],
        partitions: [...partitions.accounts, ...partitions.serviceKeys, ...partitions.audit, ...partitions.blocks],
      },
    ],
    mails: true,
    grant: (grantee, { objects }) => grantObjects(grantee, objects, [DAY_FILES], 's3:GetObject'),
  },
  files: {
    description: 'Dashboard API: archives, exports, bills of providers',
    environment: filesEnvironment,
    items: [
      { actions: ['Query'], partitions: [...partitions.accounts, ...partitions.spend] },
      { actions: ['GetItem'], partitions: [...partitions.accounts, ...partitions.prices, ...partitions.audit] },
      { actions: ['PutItem', 'DeleteItem'], partitions: [...partitions.accounts, ...partitions.audit] },
    ],
    grant: (grantee, { objects, settings }, stack) => {
      // A link works with the rights of who signed it.
      grantObjects(grantee, objects, [ARCHIVES, EXPORTS], 's3:GetObject');
      // It cannot read what it saves.
      grantBillCredentials(grantee, stack, settings, 'CreateSecret', 'PutSecretValue', 'DeleteSecret');
    },
  },
  machine: {
    description: 'Dashboard API: what scripts, Prometheus and AI agents (MCP) read with an API token',
    environment: readingEnvironment,
    // Pauses, too.
    items: [...read, { actions: ['GetItem'], partitions: partitions.blocks }],
    grant: (grantee, { objects }) => grantObjects(grantee, objects, [DAY_FILES, EXPORTS], 's3:GetObject'),
  },
  billing: {
    description: 'Dashboard API: billing status, checkout, customer portal',
    environment: billingEnvironment,
    items: [
      { actions: ['GetItem'], partitions: partitions.accounts },
      // The month's counter.
      { actions: ['Query'], partitions: partitions.spend },
      // A customer refers to its account and the account to the customer.
      { actions: ['UpdateItem', 'PutItem'], partitions: [...partitions.accounts, ...partitions.stripeCustomers] },
    ],
    grant: (grantee, { stripe }) => grantReadSecret(grantee, stripe.apiKey),
  },
  'stripe-webhook': {
    description: 'Stripe events -> plan, billing status, account and keys',
    environment: stripeWebhookEnvironment,
    items: [
      { actions: ['GetItem'], partitions: [...partitions.stripeCustomers, ...partitions.stripeEvents] },
      { actions: ['PutItem'], partitions: partitions.stripeEvents },
      ...syncBilling,
    ],
    grant: (grantee, { stripe }) => {
      grantReadSecret(grantee, stripe.apiKey);
      grantReadSecret(grantee, stripe.webhookSecrets);
    },
    failures: 'StripeWebhookFailures',
  },
};

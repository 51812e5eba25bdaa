import type { Stack } from 'aws-cdk-lib';
import type { IUserPool, IUserPoolClient } from 'aws-cdk-lib/aws-cognito';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import type { IGrantable } from 'aws-cdk-lib/aws-iam';
import type { ResourceName } from '../../lambda/dashboard/operations.ts';
import { DELETION_GRACE_DAYS } from '../../lambda/domain/accounts/deletion.ts';
import type { Registration } from '../../lambda/domain/accounts/registration.ts';
import { ARCHIVES, DAY_FILES, EXPORTS } from '../../lambda/domain/object-keys.ts';
import type {
  AccountEnvironment,
  AlertRulesEnvironment,
  ApiEnvironment,
  AuthEnvironment,
  BillingEnvironment,
  DashboardEnvironment,
  MembersEnvironment,
  ObjectsEnvironment,
  ReconciliationEnvironment,
  ReportsEnvironment,
  SignOnEnvironment,
  StripeWebhookEnvironment,
  TokensEnvironment,
} from '../../lambda/environment.ts';
import type { StageSettings } from '../config.ts';
import { grantActions, grantObjects, grantReadSecret } from '../constructs/grants.ts';
import type { ObjectBucket } from '../constructs/object-bucket.ts';
import type { TableAccess } from '../constructs/table-access.ts';
import { billEnvironment, grantBillCredentials } from './bill-credentials.ts';
import { type StripeAccess, syncBilling } from './billing.ts';
import type { SignOnAccess } from './identity.ts';
import type { MailSending } from './mail.ts';
import { partitions } from './partitions.ts';

/** What the functions of the dashboard API can get. */
export interface DashboardDependencies {
  readonly stack: Stack;
  readonly settings: StageSettings;
  readonly table: ITable;
  readonly objects: ObjectBucket;
  readonly userPool: IUserPool;
  readonly userPoolClient: IUserPoolClient;
  readonly stripe: StripeAccess;
  readonly signOn: SignOnAccess;
  readonly mail: MailSending;
  readonly corsOrigins: readonly string[];
  /** URL for links in mails, without a trailing slash. */
  readonly dashboardUrl: string;
  readonly registration: Registration;
}

/** One function of the dashboard API. Its entry is `lambda/dashboard/{name}/handler.ts`, its routes are its operations there. */
export interface DashboardResource {
  /** Name of a metric of failed requests, where they need their own alarm. */
  readonly failures?: string;
  readonly description: string;
  readonly environment: (dependencies: DashboardDependencies) => Readonly<Record<string, string>>;
  /** What it may do in the table. The stack adds the look-up of the caller where an authorizer checks the token. */
  readonly items: readonly TableAccess[];
  /** It sends mail. */
  readonly mails?: boolean;
  /** Its other permissions. */
  readonly grant?: (grantee: IGrantable, dependencies: DashboardDependencies) => void;
}

const dashboardEnvironment = ({ table, corsOrigins, userPoolClient }: DashboardDependencies) =>
  ({
    TABLE_NAME: table.tableName,
    CORS_ORIGINS: corsOrigins.join(','),
    USER_POOL_CLIENT_ID: userPoolClient.userPoolClientId,
  }) satisfies DashboardEnvironment;

const withUserPool = (dependencies: DashboardDependencies) => ({
  ...dashboardEnvironment(dependencies),
  USER_POOL_ID: dependencies.userPool.userPoolId,
});

const withMail = (dependencies: DashboardDependencies) => ({
  ...withUserPool(dependencies),
  MAIL_FROM: dependencies.mail.from,
  MAIL_CONFIGURATION_SET: dependencies.mail.configurationSetName,
  DASHBOARD_URL: dependencies.dashboardUrl,
});

const objectsEnvironment = (dependencies: DashboardDependencies) =>
  ({
    ...dashboardEnvironment(dependencies),
    OBJECT_BUCKET: dependencies.objects.bucketName,
  }) satisfies ObjectsEnvironment;

/** Request records that have left the table. */
const readDayFiles: NonNullable<DashboardResource['grant']> = (grantee, { objects }) =>
  grantObjects(grantee, objects, [DAY_FILES], 's3:GetObject');

const readSpend: TableAccess = { actions: ['Query'], partitions: partitions.spend };
/** Of service keys, which say what belongs to a project. */
const listKeys: TableAccess = { actions: ['Query'], partitions: partitions.accounts };

/** The account's plan says how far back. */
const readAudit: readonly TableAccess[] = [
  { actions: ['GetItem'], partitions: partitions.accounts },
  { actions: ['Query'], partitions: partitions.audit },
];

/** Which metadata names the account declared, and its display currency. */
const readPreferences: TableAccess = { actions: ['GetItem'], partitions: partitions.accounts };

/** Whether requests with a key may be stopped: by rules, and by the pauses in force. */
const tellGateway: readonly TableAccess[] = [
  { actions: ['GetItem'], partitions: partitions.blocks },
  { actions: ['UpdateItem'], partitions: partitions.serviceKeys },
];

/** A row for each resource of lambda/dashboard/operations.ts. API Gateway responds with 404 to every other path or method. */
export const dashboardResources: Readonly<Record<ResourceName, DashboardResource>> = {
  auth: {
    description:
      'Dashboard API: register, login, refresh, logout, password reset, e-mail verification, second factor, invitations, me',
    environment: (dependencies) =>
      ({
        ...withMail(dependencies),
        REGISTRATION: dependencies.registration,
      }) satisfies AuthEnvironment,
    items: [
      { actions: ['GetItem'], partitions: [...partitions.accounts, ...partitions.users] },
      // Keys and API tokens to review after a password was reset.
      { actions: ['Query'], partitions: partitions.accounts },
      { actions: ['BatchGetItem'], partitions: partitions.apiTokens },
      {
        // Account, key and user are made together, and all removed if one part fails. An invitation is accepted only into an account that exists.
        actions: ['PutItem', 'DeleteItem', 'ConditionCheckItem'],
        partitions: [...partitions.accounts, ...partitions.serviceKeys, ...partitions.users, ...partitions.audit],
      },
      // Codes, addresses, and protections, whose changes are in the audit log.
      { actions: ['UpdateItem'], partitions: [...partitions.accounts, ...partitions.users, ...partitions.audit] },
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
        'cognito-idp:AdminUserGlobalSignOut',
        // The secret of the app client.
        'cognito-idp:DescribeUserPoolClient',
        // The second factor.
        'cognito-idp:AdminRespondToAuthChallenge',
        'cognito-idp:AdminSetUserMFAPreference',
        'cognito-idp:AdminUpdateUserAttributes',
      ),
  },
  account: {
    description: 'Dashboard API: deletion of the account, archives of everything in it',
    environment: (dependencies) =>
      ({
        ...withMail(dependencies),
        OBJECT_BUCKET: dependencies.objects.bucketName,
        DELETION_GRACE_SECONDS: String(DELETION_GRACE_DAYS * 86_400),
      }) satisfies AccountEnvironment,
    items: [
      { actions: ['GetItem', 'Query'], partitions: partitions.accounts },
      // Who gets the notice.
      { actions: ['BatchGetItem'], partitions: partitions.users },
      {
        actions: ['PutItem', 'DeleteItem', 'ConditionCheckItem'],
        partitions: [...partitions.accounts, ...partitions.audit],
      },
    ],
    mails: true,
    grant: (grantee, { userPool, objects }) => {
      // The owner proves who they are.
      grantActions(
        grantee,
        userPool.userPoolArn,
        'cognito-idp:AdminInitiateAuth',
        'cognito-idp:AdminRespondToAuthChallenge',
        'cognito-idp:DescribeUserPoolClient',
      );
      // A link works with the rights of who signed it.
      grantObjects(grantee, objects, [ARCHIVES], 's3:GetObject');
    },
  },
  members: {
    description: 'Dashboard API: members, roles, invitations',
    environment: (dependencies) => withMail(dependencies) satisfies MembersEnvironment,
    items: [
      { actions: ['Query'], partitions: partitions.accounts },
      { actions: ['GetItem'], partitions: [...partitions.accounts, ...partitions.users] },
      { actions: ['BatchGetItem'], partitions: partitions.users },
      // A change of members is written to the user, the account and the audit log together.
      {
        actions: ['PutItem', 'UpdateItem', 'DeleteItem', 'ConditionCheckItem'],
        partitions: [...partitions.accounts, ...partitions.users, ...partitions.audit],
      },
    ],
    mails: true,
    grant: (grantee, { userPool }) =>
      grantActions(grantee, userPool.userPoolArn, 'cognito-idp:AdminGetUser', 'cognito-idp:AdminUserGlobalSignOut'),
  },
  keys: {
    description: 'Dashboard API: service keys and projects',
    environment: dashboardEnvironment,
    items: [
      { actions: ['GetItem'], partitions: [...partitions.accounts, ...partitions.serviceKeys] },
      { actions: ['Query'], partitions: partitions.accounts },
      // A key is written under itself, in its account's list and project, counted on the account, and recorded.
      {
        actions: ['PutItem', 'UpdateItem', 'DeleteItem'],
        partitions: [...partitions.accounts, ...partitions.serviceKeys, ...partitions.audit],
      },
    ],
  },
  'sign-on': {
    description: 'Dashboard API: single sign-on',
    environment: (dependencies) =>
      ({
        ...withMail(dependencies),
        SIGN_ON_ORIGIN: dependencies.signOn.origin,
        SIGN_ON_PROVIDERS: JSON.stringify(dependencies.signOn.providers),
      }) satisfies SignOnEnvironment,
    items: [
      { actions: ['GetItem'], partitions: [...partitions.accounts, ...partitions.users, ...partitions.signOns] },
      // A new member is written to the users, and a change of settings to account and provider; both are in the audit log.
      {
        actions: ['PutItem', 'UpdateItem', 'DeleteItem', 'ConditionCheckItem'],
        partitions: [...partitions.accounts, ...partitions.users, ...partitions.signOns, ...partitions.audit],
      },
    ],
    mails: true,
    grant: (grantee, { userPool }) =>
      grantActions(
        grantee,
        userPool.userPoolArn,
        'cognito-idp:AdminGetUser',
        'cognito-idp:AdminDeleteUser',
        'cognito-idp:AdminLinkProviderForUser',
        // A login that never proved its address gives way.
        'cognito-idp:AdminUpdateUserAttributes',
        'cognito-idp:AdminUserGlobalSignOut',
        // Passwords, before a login is connected or settings change.
        'cognito-idp:AdminInitiateAuth',
        'cognito-idp:AdminRespondToAuthChallenge',
        // The secret of the app client.
        'cognito-idp:DescribeUserPoolClient',
      ),
  },
  tokens: {
    description: 'Dashboard API: API tokens, and JWTs for them',
    environment: (dependencies) => withUserPool(dependencies) satisfies TokensEnvironment,
    items: [
      { actions: ['GetItem', 'Query'], partitions: partitions.accounts },
      { actions: ['GetItem', 'BatchGetItem', 'UpdateItem'], partitions: partitions.apiTokens },
      // A token is written under its hash, in its account's list, as a user, and in the audit log.
      {
        actions: ['PutItem', 'DeleteItem'],
        partitions: [...partitions.accounts, ...partitions.apiTokens, ...partitions.users, ...partitions.audit],
      },
    ],
    grant: (grantee, { userPool }) =>
      grantActions(
        grantee,
        userPool.userPoolArn,
        'cognito-idp:AdminCreateUser',
        'cognito-idp:AdminSetUserPassword',
        'cognito-idp:AdminInitiateAuth',
        'cognito-idp:AdminDeleteUser',
        // The secret of the app client.
        'cognito-idp:DescribeUserPoolClient',
      ),
  },
  spend: {
    description: 'Dashboard API: spend totals, groups and series',
    environment: dashboardEnvironment,
    items: [readSpend, listKeys, readPreferences],
  },
  'spend-export': {
    description: 'Dashboard API: spend as CSV, streamed',
    environment: dashboardEnvironment,
    items: [readSpend, listKeys, readPreferences],
  },
  metrics: {
    description: 'Dashboard API: spend as Prometheus metrics',
    environment: dashboardEnvironment,
    // Of the account's partition: keys, rules and dimensions.
    items: [readSpend, listKeys, readPreferences],
  },
  reconciliation: {
    description: 'Dashboard API: what providers billed, compared with what is on record',
    environment: (dependencies) =>
      ({
        ...dashboardEnvironment(dependencies),
        ...billEnvironment(dependencies.settings),
      }) satisfies ReconciliationEnvironment,
    items: [
      readSpend,
      { actions: ['Query'], partitions: partitions.accounts },
      { actions: ['GetItem'], partitions: partitions.prices },
      { actions: ['PutItem', 'DeleteItem'], partitions: [...partitions.accounts, ...partitions.audit] },
    ],
    // It cannot read what it saves.
    grant: (grantee, { stack, settings }) =>
      grantBillCredentials(grantee, stack, settings, 'CreateSecret', 'PutSecretValue', 'DeleteSecret'),
  },
  exports: {
    description: 'Dashboard API: exported days and links to download them',
    environment: objectsEnvironment,
    items: [readSpend],
    // A link works with the rights of who signed it.
    grant: (grantee, { objects }) => grantObjects(grantee, objects, [EXPORTS], 's3:GetObject'),
  },
  dimensions: {
    description: 'Dashboard API: metadata names as dimensions of spend',
    environment: dashboardEnvironment,
    items: [
      { actions: ['GetItem', 'Query'], partitions: partitions.accounts },
      // A declaration is written with its entry in the audit log.
      { actions: ['UpdateItem', 'PutItem'], partitions: [...partitions.accounts, ...partitions.audit] },
    ],
  },
  prices: {
    description: "Dashboard API: the account's own prices",
    environment: dashboardEnvironment,
    items: [
      { actions: ['GetItem'], partitions: partitions.accounts },
      // A change is written with its entry in the audit log. The first one enters the account among those whose months are closed.
      {
        actions: ['PutItem', 'UpdateItem'],
        partitions: [...partitions.accounts, ...partitions.audit, ...partitions.pricedAccounts],
      },
    ],
  },
  requests: {
    description: 'Dashboard API: the request log',
    environment: objectsEnvironment,
    items: [
      { actions: ['Query', 'BatchGetItem'], partitions: partitions.requestLogs },
      // Which months are sharded.
      readSpend,
      readPreferences,
    ],
    grant: readDayFiles,
  },
  'price-changes': {
    description: 'Dashboard API: what changed prices did to recorded costs',
    environment: dashboardEnvironment,
    items: [readSpend, { actions: ['GetItem'], partitions: partitions.prices }],
  },
  sessions: {
    description: 'Dashboard API: sessions with their agents and requests',
    environment: objectsEnvironment,
    items: [{ actions: ['Query'], partitions: [...partitions.sessions, ...partitions.requestLogs] }, readSpend],
    grant: readDayFiles,
  },
  views: {
    description: 'Dashboard API: saved views of the dashboard',
    environment: dashboardEnvironment,
    items: [
      { actions: ['Query'], partitions: partitions.accounts },
      // A change of a view is written with its entry in the audit log.
      { actions: ['PutItem', 'DeleteItem'], partitions: [...partitions.accounts, ...partitions.audit] },
    ],
  },
  'alert-rules': {
    description: 'Dashboard API: alert rules, their preview, test messages on their channels',
    environment: (dependencies) =>
      ({
        ...dashboardEnvironment(dependencies),
        DASHBOARD_URL: dependencies.dashboardUrl,
      }) satisfies AlertRulesEnvironment,
    items: [
      readSpend,
      { actions: ['GetItem', 'Query'], partitions: partitions.accounts },
      // A change of a rule is written with its entry in the audit log.
      {
        actions: ['PutItem', 'UpdateItem', 'DeleteItem'],
        partitions: [...partitions.accounts, ...partitions.audit],
      },
      ...tellGateway,
      // Sessions, for the preview of a rule on them.
      { actions: ['Query'], partitions: partitions.sessions },
    ],
  },
  budgets: {
    description: 'Dashboard API: budgets, and what they and pauses stop',
    environment: dashboardEnvironment,
    items: [
      readSpend,
      { actions: ['GetItem', 'Query'], partitions: partitions.accounts },
      {
        actions: ['PutItem', 'UpdateItem', 'DeleteItem'],
        partitions: [...partitions.accounts, ...partitions.audit],
      },
      ...tellGateway,
      { actions: ['PutItem', 'UpdateItem'], partitions: partitions.blocks },
    ],
  },
  alerts: {
    description: 'Dashboard API: triggered alerts',
    environment: dashboardEnvironment,
    items: [
      { actions: ['GetItem', 'Query', 'UpdateItem'], partitions: partitions.accounts },
      // What the period of an alert came to.
      readSpend,
    ],
  },
  reports: {
    description: 'Dashboard API: scheduled reports, and to send one now',
    environment: (dependencies) =>
      ({
        ...dashboardEnvironment(dependencies),
        MAIL_FROM: dependencies.mail.from,
        MAIL_CONFIGURATION_SET: dependencies.mail.configurationSetName,
        DASHBOARD_URL: dependencies.dashboardUrl,
      }) satisfies ReportsEnvironment,
    items: [
      readSpend,
      { actions: ['GetItem', 'Query'], partitions: partitions.accounts },
      // A change of a report is written with its entry in the audit log.
      {
        actions: ['PutItem', 'UpdateItem', 'DeleteItem'],
        partitions: [...partitions.accounts, ...partitions.audit],
      },
    ],
    mails: true,
  },
  mcp: {
    description: 'Dashboard API: questions of AI agents (MCP)',
    environment: objectsEnvironment,
    // What the functions of its tools read; it writes nothing.
    items: [
      readSpend,
      { actions: ['GetItem', 'Query'], partitions: partitions.accounts },
      { actions: ['Query', 'BatchGetItem'], partitions: partitions.requestLogs },
      { actions: ['Query'], partitions: partitions.sessions },
    ],
    grant: readDayFiles,
  },
  billing: {
    description: 'Dashboard API: billing status, checkout, customer portal',
    environment: (dependencies) =>
      ({
        ...dashboardEnvironment(dependencies),
        ...dependencies.stripe.environment,
        ...dependencies.stripe.pages,
      }) satisfies BillingEnvironment,
    items: [
      { actions: ['GetItem'], partitions: partitions.accounts },
      // The month's counter.
      readSpend,
      // A customer refers to its account and the account to the customer.
      { actions: ['UpdateItem', 'PutItem'], partitions: [...partitions.accounts, ...partitions.stripeCustomers] },
    ],
    grant: (grantee, { stripe }) => grantReadSecret(grantee, stripe.apiKey),
  },
  audit: {
    description: 'Dashboard API: the audit log',
    environment: dashboardEnvironment,
    items: readAudit,
  },
  'audit-export': {
    description: 'Dashboard API: the audit log as CSV, streamed',
    environment: dashboardEnvironment,
    items: readAudit,
  },
  'stripe-webhook': {
    description: 'Stripe events -> plan, billing status, account and keys',
    environment: ({ stripe }) =>
      ({
        ...stripe.environment,
        STRIPE_WEBHOOK_SECRETS_ID: stripe.webhookSecrets.secretArn,
      }) satisfies StripeWebhookEnvironment,
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
  openapi: {
    description: 'Dashboard API: its own description',
    environment: ({ corsOrigins }) => ({ CORS_ORIGINS: corsOrigins.join(',') }) satisfies ApiEnvironment,
    items: [],
  },
};

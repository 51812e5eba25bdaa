import { Duration, Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { ARCHIVES, DAY_FILES, OBJECT_KINDS } from '../../lambda/domain/object-keys.ts';
import { accountJobsEnvironment } from '../../lambda/environment.ts';
import { grantActions, grantObjects, grantReadSecret } from '../constructs/grants.ts';
import { ScheduledFunction, variablesOf } from '../constructs/handler-function.ts';
import { grantItems } from '../constructs/table-access.ts';
import { grantBillCredentials } from './bill-credentials.ts';
import { INDEX_NAME } from './data.ts';
import { partitions } from './partitions.ts';
import type { StageResources } from './resources.ts';

/** Usage events come within a quarter of an hour, and caches forget an account within a minute. */
const DELETION_PAUSE = Duration.minutes(20);

/** Work for whole accounts, a piece a minute: their deletion, archives of them, their bills and reports. */
export class AccountJobsStack extends Stack {
  readonly scheduled: readonly ScheduledFunction[];

  constructor(
    scope: Construct,
    id: string,
    resources: Pick<StageResources, 'settings' | 'variables' | 'table' | 'objects' | 'userPool' | 'stripe'>,
  ) {
    const { settings, variables, table, objects, userPool, stripe } = resources;
    super(scope, id);
    const jobs = new ScheduledFunction(this, 'AccountJobs', {
      entry: 'lambda/account-jobs/handler.ts',
      description:
        'Deletes accounts whose grace is over; writes archives of accounts; reads bills; makes reports; sends to destinations',
      every: Duration.minutes(1),
      environment: variablesOf(accountJobsEnvironment, {
        ...variables,
        ...stripe.variables,
        USER_POOL_ID: userPool.userPoolId,
        DELETION_PAUSE_SECONDS: String(DELETION_PAUSE.toSeconds()),
      }),
      // Runs do not overlap.
      timeout: Duration.seconds(50),
      retention: settings.retention,
    });
    const ofAccounts = [
      ...partitions.accounts,
      ...partitions.requestLogs,
      ...partitions.sessions,
      ...partitions.spend,
      ...partitions.audit,
      ...partitions.blocks,
    ];
    const listed = [
      ...partitions.serviceKeys,
      ...partitions.apiTokens,
      ...partitions.signOns,
      ...partitions.stripeCustomers,
      ...partitions.pricedAccounts,
    ];
    const ofAllAccounts = [...partitions.outbox, ...partitions.refusedEvents, ...partitions.modelUse];
    grantItems(
      jobs,
      table,
      { actions: ['Query'], partitions: partitions.accountJobs, index: INDEX_NAME },
      { actions: ['Query'], partitions: partitions.allStripeCustomers, index: INDEX_NAME },
      { actions: ['Query', 'BatchWriteItem'], partitions: [...ofAccounts, ...partitions.users, ...ofAllAccounts] },
      // Items that a partition of the account names are deleted by their keys.
      { actions: ['BatchWriteItem'], partitions: listed },
      {
        actions: ['GetItem'],
        partitions: [...partitions.accounts, ...partitions.users, ...partitions.signOns, ...partitions.prices],
      },
      { actions: ['BatchGetItem'], partitions: partitions.serviceKeys },
      // How far a job is, and the account's state with its copies on keys.
      { actions: ['UpdateItem'], partitions: [...partitions.accounts, ...partitions.serviceKeys] },
      // A bill, a report of a period, and a deletion that is over.
      { actions: ['PutItem'], partitions: [...partitions.accounts, ...partitions.deletedAccounts] },
    );
    grantActions(jobs, userPool.userPoolArn, 'cognito-idp:AdminDeleteUser');
    grantReadSecret(jobs, stripe.apiKey);
    grantBillCredentials(jobs, this, settings, 'GetSecretValue', 'DeleteSecret');
    grantObjects(jobs, objects, [ARCHIVES], 's3:GetObject', 's3:PutObject', 's3:AbortMultipartUpload');
    // Request records that have left the table, for an archive or a report.
    grantObjects(jobs, objects, [DAY_FILES], 's3:GetObject');
    grantObjects(jobs, objects, OBJECT_KINDS, 's3:DeleteObject');
    grantActions(jobs, objects.bucketArn, 's3:ListBucket');
    this.scheduled = [jobs];
  }
}

import { CfnOutput, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { CfnAccount } from 'aws-cdk-lib/aws-apigateway';
import {
  AttributeType,
  BillingMode,
  type ITable,
  ProjectionType,
  Table,
  TableEncryption,
} from 'aws-cdk-lib/aws-dynamodb';
import { ManagedPolicy, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import { acknowledge } from '../constructs/acknowledge.ts';
import { ObjectBucket } from '../constructs/object-bucket.ts';
import type { StageResources } from './resources.ts';

/**
 * Lets API Gateway write logs: one setting of the account and region, which other APIs there may need as well, so it stays. Once a stage:
 * AWS allows one change of it in 20 seconds. @see https://docs.aws.amazon.com/apigateway/latest/developerguide/limits.html
 */
const allowApiLogs = (scope: Construct): void => {
  const role = new Role(scope, 'ApiLogsRole', {
    assumedBy: new ServicePrincipal('apigateway.amazonaws.com'),
    managedPolicies: [ManagedPolicy.fromAwsManagedPolicyName('service-role/AmazonAPIGatewayPushToCloudWatchLogs')],
  });
  acknowledge(role, {
    'IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]':
      'API Gateway writes its logs with this AWS managed policy: the role is one for the whole account and region.',
  });
  const account = new CfnAccount(scope, 'ApiLogs', { cloudWatchRoleArn: role.roleArn });
  for (const resource of [role, account]) resource.applyRemovalPolicy(RemovalPolicy.RETAIN);
};

export const INDEX_NAME = 'gsi1';

/** The one table, and what every API of the stage needs: their stacks come after this one. @see lambda/data/table/keys.ts for what lives under which key */
export class DataStack extends Stack {
  /** The table in use: the stack's own, or a restored one. */
  readonly table: ITable;
  readonly objects: ObjectBucket;

  constructor(scope: Construct, id: string, { settings }: Pick<StageResources, 'settings'>) {
    super(scope, id);
    const { warmThroughput } = settings.table;
    const own = new Table(this, 'Table', {
      partitionKey: { name: 'pk', type: AttributeType.STRING },
      sortKey: { name: 'sk', type: AttributeType.STRING },
      billingMode: BillingMode.PAY_PER_REQUEST,
      ...(warmThroughput && { warmThroughput }),
      encryption: TableEncryption.AWS_MANAGED,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      timeToLiveAttribute: 'expiresAt',
      removalPolicy: settings.retention.protectedData,
      deletionProtection: settings.retention.protectedData === RemovalPolicy.RETAIN,
    });
    own.addGlobalSecondaryIndex({
      indexName: INDEX_NAME,
      partitionKey: { name: 'gsi1pk', type: AttributeType.STRING },
      sortKey: { name: 'gsi1sk', type: AttributeType.STRING },
      projectionType: ProjectionType.ALL,
    });
    // Other stacks may import these until they are deployed: an export in use cannot go before them.
    this.exportValue(own.tableArn);
    this.exportValue(own.tableName);
    const { restoredTable: tableName } = settings;
    // The cast: aws-cdk-lib's classes and interfaces differ under exactOptionalPropertyTypes.
    this.table =
      tableName === undefined
        ? (own as ITable)
        : Table.fromTableAttributes(this, 'Restored', { tableName, globalIndexes: [INDEX_NAME] });
    this.objects = new ObjectBucket(this, 'Objects', settings.retention);
    allowApiLogs(this);
    new CfnOutput(this, 'TableName', { value: this.table.tableName });
    new CfnOutput(this, 'ObjectBucketName', { value: this.objects.bucketName });
  }
}

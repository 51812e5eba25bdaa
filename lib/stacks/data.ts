import { CfnOutput, RemovalPolicy, Stack, type StackProps } from 'aws-cdk-lib';
import {
  AttributeType,
  BillingMode,
  type ITable,
  ProjectionType,
  Table,
  TableEncryption,
} from 'aws-cdk-lib/aws-dynamodb';
import type { Construct } from 'constructs';
import type { StageSettings } from '../config.ts';
import { ObjectBucket } from '../constructs/object-bucket.ts';
import { usageCapacity } from '../usage-capacity.ts';

interface DataStackProps extends StackProps {
  readonly settings: StageSettings;
}

export const INDEX_NAME = 'gsi1';

/** The one table. @see lambda/data/table/keys.ts for what lives under which key */
export class DataStack extends Stack {
  /** The table in use: the stack's own, or a restored one. */
  readonly table: ITable;
  readonly objects: ObjectBucket;

  constructor(scope: Construct, id: string, { settings, ...props }: DataStackProps) {
    super(scope, id, props);
    const warmThroughput =
      settings.table.warmThroughput ?? usageCapacity(settings.expectedRequestsPerSecond).warmThroughput;
    const own = new Table(this, 'Table', {
      partitionKey: { name: 'pk', type: AttributeType.STRING },
      sortKey: { name: 'sk', type: AttributeType.STRING },
      billingMode: BillingMode.PAY_PER_REQUEST,
      ...(warmThroughput && { warmThroughput }),
      encryption: TableEncryption.AWS_MANAGED,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      timeToLiveAttribute: 'expiresAt',
      removalPolicy: settings.retention.data,
      deletionProtection: settings.retention.data === RemovalPolicy.RETAIN,
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
    new CfnOutput(this, 'TableName', { value: this.table.tableName });
    new CfnOutput(this, 'ObjectBucketName', { value: this.objects.bucketName });
  }
}

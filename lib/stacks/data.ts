import { RemovalPolicy, Stack, type StackProps } from 'aws-cdk-lib';
import { AttributeType, BillingMode, ProjectionType, Table, TableEncryption } from 'aws-cdk-lib/aws-dynamodb';
import type { Construct } from 'constructs';
import type { StageSettings } from '../config.ts';

interface DataStackProps extends StackProps {
  readonly settings: StageSettings;
}

export const INDEX_NAME = 'gsi1';

/** The one table. @see lambda/data/keys.ts for what lives under which key */
export class DataStack extends Stack {
  readonly table: Table;

  constructor(scope: Construct, id: string, { settings, ...props }: DataStackProps) {
    super(scope, id, props);
    this.table = new Table(this, 'Table', {
      partitionKey: { name: 'pk', type: AttributeType.STRING },
      sortKey: { name: 'sk', type: AttributeType.STRING },
      billingMode: BillingMode.PAY_PER_REQUEST,
      encryption: TableEncryption.AWS_MANAGED,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      timeToLiveAttribute: 'expiresAt',
      removalPolicy: settings.retention.data,
      deletionProtection: settings.retention.data === RemovalPolicy.RETAIN,
    });
    this.table.addGlobalSecondaryIndex({
      indexName: INDEX_NAME,
      partitionKey: { name: 'gsi1pk', type: AttributeType.STRING },
      sortKey: { name: 'gsi1sk', type: AttributeType.STRING },
      projectionType: ProjectionType.ALL,
    });
  }
}

import { CfnOutput, Duration, Stack, type StackProps } from 'aws-cdk-lib';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import type { Construct } from 'constructs';
import { DAY_FILES, EXPORTS } from '../../lambda/domain/object-keys.ts';
import { exporterEnvironment } from '../../lambda/environment.ts';
import type { StageSettings } from '../config.ts';
import { grantActions, grantObjects } from '../constructs/grants.ts';
import { variablesOf } from '../constructs/handler-function.ts';
import { metricNamespace } from '../constructs/log-line-count.ts';
import type { ObjectBucket } from '../constructs/object-bucket.ts';
import { ScheduledFunction } from '../constructs/scheduled-function.ts';
import { grantItems } from '../constructs/table-access.ts';
import { INDEX_NAME } from './data.ts';
import { exportTables } from './export-tables.ts';
import { partitions } from './partitions.ts';

interface ExportsStackProps extends StackProps {
  readonly settings: StageSettings;
  readonly table: ITable;
  readonly objects: ObjectBucket;
}

/** Closed days as files: the job that writes them, and what Athena needs to query them. */
export class ExportsStack extends Stack {
  readonly scheduled: readonly ScheduledFunction[];

  constructor(scope: Construct, id: string, { settings, table, objects, ...props }: ExportsStackProps) {
    super(scope, id, props);
    const exporter = new ScheduledFunction(this, 'Exporter', {
      entry: 'lambda/exporter/handler.ts',
      description: 'Days that were rolled up -> files of cost, usage and requests; old requests -> out of the table',
      every: Duration.hours(1),
      environment: variablesOf(exporterEnvironment, {
        TABLE_NAME: table.tableName,
        OBJECT_BUCKET: objects.bucketName,
        POWERTOOLS_METRICS_NAMESPACE: metricNamespace(settings.name),
        REQUEST_TABLE_DAYS: String(settings.table.requestDays ?? ''),
      }),
      timeout: Duration.minutes(15),
      // A processor of its own, and row groups of four days at a time.
      memoryMb: 3_008,
      retention: settings.retention,
    });
    this.scheduled = [exporter];
    grantItems(
      exporter,
      table,
      { actions: ['Query'], partitions: [...partitions.exportsDue, ...partitions.dayFilesDue], index: INDEX_NAME },
      { actions: ['Query'], partitions: [...partitions.requestLogs, ...partitions.spend] },
      { actions: ['UpdateItem', 'DeleteItem'], partitions: partitions.spend },
      // Records that have left the table.
      { actions: ['BatchWriteItem'], partitions: partitions.requestLogs },
      { actions: ['GetItem'], partitions: [...partitions.accounts, ...partitions.deletedAccounts] },
    );
    grantObjects(exporter, objects, [EXPORTS], 's3:PutObject', 's3:PutObjectTagging', 's3:AbortMultipartUpload');
    grantObjects(
      exporter,
      objects,
      [DAY_FILES],
      's3:GetObject',
      's3:PutObject',
      's3:AbortMultipartUpload',
      's3:DeleteObject',
    );
    // To find the versions of a file that expired.
    grantActions(exporter, objects.bucketArn, 's3:ListBucket');
    const { databaseName, workgroupName } = exportTables(this, settings.name, objects);
    new CfnOutput(this, 'DatabaseName', { value: databaseName });
    new CfnOutput(this, 'WorkgroupName', { value: workgroupName });
  }
}

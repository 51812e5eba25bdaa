import { CfnOutput, Duration, Stack } from 'aws-cdk-lib';
import { CfnNamedQuery, CfnWorkGroup } from 'aws-cdk-lib/aws-athena';
import { CfnDatabase, CfnTable } from 'aws-cdk-lib/aws-glue';
import type { Construct } from 'constructs';
import type { ColumnType } from '../../lambda/domain/exports/column.ts';
import { type DatasetName, datasetNames, datasets } from '../../lambda/domain/exports/datasets.ts';
import { DAY_FILES, EXPORTS, exportKey } from '../../lambda/domain/object-keys.ts';
import { exporterEnvironment } from '../../lambda/environment.ts';
import { grantActions, grantObjects } from '../constructs/grants.ts';
import { ScheduledFunction, variablesOf } from '../constructs/handler-function.ts';
import { ATHENA_RESULTS, type ObjectBucket } from '../constructs/object-bucket.ts';
import { grantItems } from '../constructs/table-access.ts';
import { INDEX_NAME } from './data.ts';
import { partitions } from './partitions.ts';
import type { StageResources } from './resources.ts';

/** A query that reads more ends with an error: 0.5 USD. */
const MAX_BYTES_OF_QUERY = 100 * 1_000 ** 3;

/** Parts of the tables' ids. */
const tableIds: Readonly<Record<DatasetName, string>> = {
  'cost-and-usage': 'CostAndUsage',
  requests: 'Request',
  names: 'Name',
};

/** Nothing is exported of days before. */
const FIRST_DAY = '2026-01-01';

const glueTypes: Readonly<Record<ColumnType, string>> = {
  text: 'string',
  json: 'string',
  time: 'timestamp',
  nanoUsd: 'decimal(18,9)',
  number: 'double',
  count: 'bigint',
  flag: 'boolean',
};

/** Files of before there was `x_cost` have the same figure in another column. */
const COST = 'sum(coalesce(x_cost, effectivecost))';

/** Put in the account's id; `GET /auth/me` shows it. */
const namedQueries: Readonly<Record<string, string>> = {
  'Cost by model and day': `
SELECT day, x_model, ${COST} AS usd, sum(listcost) AS list_usd, sum(x_inputtokens) AS input_tokens,
  sum(x_outputtokens) AS output_tokens
FROM cost_and_usage WHERE account = 'ACCOUNT' AND day >= date_format(current_date - interval '30' day, '%Y-%m-%d')
GROUP BY day, x_model ORDER BY day DESC, usd DESC`,
  'Cost by tag, provenance and month': `
SELECT substr(day, 1, 7) AS month, x_tag, x_provenance, ${COST} AS usd
FROM cost_and_usage WHERE account = 'ACCOUNT' GROUP BY 1, 2, 3 ORDER BY 1 DESC, usd DESC`,
  'Requests of unknown cost': `
SELECT day, provider, model, reason, count(*) AS requests
FROM requests WHERE account = 'ACCOUNT' AND cost_usd IS NULL GROUP BY 1, 2, 3, 4 ORDER BY requests DESC`,
  'Costliest requests': `
SELECT request_id, started_at, model, tag, cost_usd, input_tokens, output_tokens
FROM requests WHERE account = 'ACCOUNT' AND day >= date_format(current_date - interval '7' day, '%Y-%m-%d')
ORDER BY cost_usd DESC NULLS LAST LIMIT 100`,
};

/** Athena replaces this by the value of a partition's column. */
const placeholder = (column: string): string => `$\{${column}}`;

/**
 * A database with a table for each dataset, and a workgroup with a limit. Partitions are computed from the query, so nobody has to add
 * them; a query must name one account.
 */
const exportTables = (scope: Construct, stage: string, bucket: ObjectBucket) => {
  const { account } = Stack.of(scope);
  const databaseName = `ai_spend_${stage.replaceAll('-', '_')}`;
  const workgroupName = `ai-spend-${stage}`;
  const database = new CfnDatabase(scope, 'ExportDatabase', {
    catalogId: account,
    databaseInput: {
      name: databaseName,
      description: 'Cost, usage and requests of the AI Spend Gateway, by account and day',
    },
  });
  for (const name of datasetNames) {
    const key = exportKey(placeholder('account'), name, 'parquet', placeholder('day'));
    const folder = (path: string) => `s3://${bucket.bucketName}/${path.slice(0, path.lastIndexOf('/') + 1)}`;
    const table = new CfnTable(scope, `${tableIds[name]}Table`, {
      catalogId: account,
      databaseName,
      tableInput: {
        name: name.replaceAll('-', '_'),
        tableType: 'EXTERNAL_TABLE',
        partitionKeys: [
          { name: 'account', type: 'string' },
          { name: 'day', type: 'string' },
        ],
        parameters: {
          classification: 'parquet',
          'projection.enabled': 'true',
          'projection.account.type': 'injected',
          'projection.day.type': 'date',
          'projection.day.format': 'yyyy-MM-dd',
          'projection.day.range': `${FIRST_DAY},NOW`,
          'storage.location.template': folder(key),
        },
        storageDescriptor: {
          location: `s3://${bucket.bucketName}/exports/`,
          columns: datasets[name].columns.map((column) => ({
            name: column.name.toLowerCase(),
            type: glueTypes[column.type],
          })),
          inputFormat: 'org.apache.hadoop.hive.ql.io.parquet.MapredParquetInputFormat',
          outputFormat: 'org.apache.hadoop.hive.ql.io.parquet.MapredParquetOutputFormat',
          serdeInfo: { serializationLibrary: 'org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe' },
        },
      },
    });
    table.addResourceDependency(database);
  }
  const workgroup = new CfnWorkGroup(scope, 'Workgroup', {
    name: workgroupName,
    description: 'Queries of exports',
    recursiveDeleteOption: true,
    workGroupConfiguration: {
      bytesScannedCutoffPerQuery: MAX_BYTES_OF_QUERY,
      enforceWorkGroupConfiguration: true,
      publishCloudWatchMetricsEnabled: true,
      resultConfiguration: {
        outputLocation: `s3://${bucket.bucketName}/${ATHENA_RESULTS}/`,
        encryptionConfiguration: { encryptionOption: 'SSE_S3' },
      },
    },
  });
  for (const [index, [name, queryString]] of Object.entries(namedQueries).entries())
    new CfnNamedQuery(scope, `Query${index + 1}`, {
      name,
      queryString: queryString.trim(),
      database: databaseName,
      workGroup: workgroupName,
    }).addResourceDependency(workgroup);
  return { databaseName, workgroupName };
};

/** Closed days as files: the job that writes them, and what Athena needs to query them. */
export class ExportsStack extends Stack {
  readonly scheduled: readonly ScheduledFunction[];

  constructor(
    scope: Construct,
    id: string,
    { settings, variables, table, objects }: Pick<StageResources, 'settings' | 'variables' | 'table' | 'objects'>,
  ) {
    super(scope, id);
    const exporter = new ScheduledFunction(this, 'Exporter', {
      entry: 'lambda/exporter/handler.ts',
      description: 'Days that were rolled up -> files of cost, usage and requests; old requests -> out of the table',
      every: Duration.minutes(20),
      environment: variablesOf(exporterEnvironment, {
        ...variables,
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
      { actions: ['Query'], partitions: [...partitions.requestLogs, ...partitions.spend, ...partitions.accounts] },
      { actions: ['UpdateItem', 'DeleteItem'], partitions: partitions.spend },
      // Records that have left the table.
      { actions: ['BatchWriteItem'], partitions: partitions.requestLogs },
      {
        actions: ['GetItem'],
        partitions: [...partitions.accounts, ...partitions.deletedAccounts, ...partitions.audit, ...partitions.users],
      },
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

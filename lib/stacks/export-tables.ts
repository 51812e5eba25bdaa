import { Stack } from 'aws-cdk-lib';
import { CfnNamedQuery, CfnWorkGroup } from 'aws-cdk-lib/aws-athena';
import { CfnDatabase, CfnTable } from 'aws-cdk-lib/aws-glue';
import type { Construct } from 'constructs';
import type { ColumnType } from '../../lambda/domain/exports/column.ts';
import { datasetNames, datasets } from '../../lambda/domain/exports/datasets.ts';
import { exportKey } from '../../lambda/domain/object-keys.ts';
import { ATHENA_RESULTS, type ObjectBucket } from '../constructs/object-bucket.ts';

/** A query that reads more ends with an error: 0.5 USD. */
const MAX_BYTES_OF_QUERY = 100 * 1_000 ** 3;

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

/** Put in the account's id; `GET /auth/me` shows it. */
const namedQueries: Readonly<Record<string, string>> = {
  'Cost by model and day': `
SELECT day, x_model, sum(effectivecost) AS usd, sum(listcost) AS list_usd, sum(x_inputtokens) AS input_tokens, sum(x_outputtokens) AS output_tokens
FROM cost_and_usage WHERE account = 'ACCOUNT' AND day >= date_format(current_date - interval '30' day, '%Y-%m-%d')
GROUP BY day, x_model ORDER BY day DESC, usd DESC`,
  'Cost by tag, provenance and month': `
SELECT substr(day, 1, 7) AS month, x_tag, x_provenance, sum(effectivecost) AS usd
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
export const exportTables = (scope: Construct, stage: string, bucket: ObjectBucket) => {
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
    const table = new CfnTable(scope, `${name === 'requests' ? 'Request' : 'CostAndUsage'}Table`, {
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

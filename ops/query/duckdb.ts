import { globSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { type DatasetName, datasetNames } from '../../lambda/domain/exports/datasets.ts';
import { EXPORTS, exportKey } from '../../lambda/domain/object-keys.ts';

/** Name of a dataset's table: as Athena's. */
const tableOf = (dataset: string): string => dataset.replaceAll('-', '_');

const text = (value: string): string => `'${value.replaceAll("'", "''")}'`;

const nameOf = (kind: 'key' | 'project' | 'member', id: string): string =>
  `LEFT JOIN names AS ${kind}s ON ${kind}s.account = rows.account AND ${kind}s.kind = ${text(kind)} AND ${kind}s.id = ${id}`;

/** The names of today in the place of ids, or of names that were in force when a day was exported. */
const viewOf: Readonly<Record<DatasetName, (rows: string) => string>> = {
  names: (rows) => `${rows} QUALIFY row_number() OVER (PARTITION BY account, kind, id ORDER BY day DESC) = 1`,
  requests: (rows) => `SELECT rows.*, keys.name AS key_name, keys.project, projects.name AS project_name,
      keys.member, members.name AS member_name
    FROM (${rows}) AS rows ${nameOf('key', 'rows.key')} ${nameOf('project', 'keys.project')} ${nameOf('member', 'keys.member')}`,
  'cost-and-usage': (rows) => `SELECT rows.* REPLACE (coalesce(keys.name, x_ServiceKeyName) AS x_ServiceKeyName,
      coalesce(projects.name, SubAccountName) AS SubAccountName, coalesce(members.name, x_MemberName) AS x_MemberName)
    FROM (${rows}) AS rows ${nameOf('key', 'x_ServiceKeyId')} ${nameOf('project', 'SubAccountId')} ${nameOf('member', 'x_MemberId')}`,
};

/**
 * Opens the exports in a folder of objects as tables `cost_and_usage`, `requests` and `names`, in memory. As in Athena each has the
 * columns `account` and `day` as well, which are not in the files but in their names. The names are those of the last day that has them.
 *
 * @param folder that object keys are relative to. The emulator of S3 adds `.data` to their names
 */
export const openQuery = async (folder: string) => {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  /** The rows of all days; undefined where there are none. */
  const rowsOf = (dataset: DatasetName): string | undefined => {
    // The name of the folder is no pattern. The emulator keeps a file about each object next to it.
    const files = globSync(`${exportKey('*', dataset, 'parquet', '*')}*`, { cwd: folder })
      .filter((file) => !file.endsWith('.json'))
      .map((file) => join(folder, file));
    if (files.length === 0) return undefined;
    const parts = `string_split(filename, ${text(`/${EXPORTS}/`)})[-1]`;
    return `SELECT * EXCLUDE (filename), string_split(${parts}, '/')[1] AS account, string_split(${parts}, '/')[4] AS day
         FROM read_parquet([${files.map(text).join(', ')}], filename = true, union_by_name = true)`;
  };
  const names = rowsOf('names');
  // Names first: the others refer to them.
  for (const dataset of datasetNames.toReversed()) {
    const rows = rowsOf(dataset);
    if (rows === undefined) continue;
    const select = names === undefined ? rows : viewOf[dataset](rows);
    await connection.run(`CREATE VIEW ${tableOf(dataset)} AS ${select}`);
  }
  return {
    /** Rows by column name. Whole numbers and decimals are text, so that none is rounded. */
    rows: async (sql: string) => (await connection.runAndReadAll(sql)).getRowObjectsJson(),
    close: (): void => {
      connection.closeSync();
      instance.closeSync();
    },
  };
};

export type Query = Awaited<ReturnType<typeof openQuery>>;

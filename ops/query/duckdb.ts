import { globSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { datasetNames } from '../../lambda/domain/exports/datasets.ts';
import { EXPORTS, exportKey } from '../../lambda/domain/object-keys.ts';

/** Rows by column name. Whole numbers and decimals are text, so that none is rounded. */
type Row = Readonly<Record<string, unknown>>;

export interface Query {
  readonly rows: (sql: string) => Promise<Row[]>;
  readonly close: () => void;
}

/** Name of a dataset's table: as Athena's. */
const tableOf = (dataset: string): string => dataset.replaceAll('-', '_');

const text = (value: string): string => `'${value.replaceAll("'", "''")}'`;

/**
 * Opens the exports in a folder of objects as tables `cost_and_usage` and `requests`, in memory. As in Athena each has the columns
 * `account` and `day` as well, which are not in the files but in their names.
 *
 * @param folder that object keys are relative to. The emulator of S3 adds `.data` to their names
 */
export const openQuery = async (folder: string): Promise<Query> => {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  for (const dataset of datasetNames) {
    const pattern = join(folder, `${exportKey('*', dataset, 'parquet', '*')}*`);
    // The emulator keeps a file about each object next to it.
    const files = globSync(pattern).filter((file) => !file.endsWith('.json'));
    if (files.length === 0) continue;
    const parts = `string_split(filename, ${text(`/${EXPORTS}/`)})[-1]`;
    await connection.run(
      `CREATE VIEW ${tableOf(dataset)} AS
         SELECT * EXCLUDE (filename), string_split(${parts}, '/')[1] AS account, string_split(${parts}, '/')[4] AS day
         FROM read_parquet([${files.map(text).join(', ')}], filename = true, union_by_name = true)`,
    );
  }
  return {
    rows: async (sql) => (await connection.runAndReadAll(sql)).getRowObjectsJson(),
    close: () => {
      connection.closeSync();
      instance.closeSync();
    },
  };
};

import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { expect, it } from '@jest/globals';
import { exportKey } from '../../lambda/domain/object-keys.ts';
import { runOps } from './run-command.ts';

it.each(['.', 'objects/buckets/b/objects'])(
  'reads exports in %s of a folder whose name looks like a pattern',
  async (folder) => {
    const data = await mkdtemp(join(tmpdir(), 'query [1] *'));
    const file = join(data, folder, exportKey('a', 'cost-and-usage', 'parquet', '2026-11-20'));
    await mkdir(dirname(file), { recursive: true });
    const instance = await DuckDBInstance.create(':memory:');
    const connection = await instance.connect();
    await connection.run(`COPY (SELECT 7 AS cost) TO '${file}' (FORMAT parquet)`);
    connection.closeSync();
    instance.closeSync();
    const ran = await runOps('query', ['select * from cost_and_usage', '--json', '--data', data]);
    await rm(data, { recursive: true });
    expect(ran).toMatchObject({ code: 0, stdout: '{"cost":7,"account":"a","day":"2026-11-20"}\n' });
  },
);

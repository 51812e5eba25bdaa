import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { expect, it } from '@jest/globals';
import { exportKey } from '../../lambda/domain/object-keys.ts';
import { runOps } from './run-command.ts';

it.each([
  ['.', '--data'],
  ['objects/buckets/b/objects', 'DATA_DIR of commands.env'],
])('reads exports in %s of a folder whose name looks like a pattern, named by %s', async (folder, by) => {
  const data = await mkdtemp(join(tmpdir(), 'query [1] *'));
  const [first, last] = [3, 1].map((days) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10));
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  for (const day of [first, last]) {
    const file = join(data, folder, exportKey('a', 'cost-and-usage', 'parquet', String(day)));
    await mkdir(dirname(file), { recursive: true });
    await connection.run(`COPY (SELECT 7 AS cost) TO '${file}' (FORMAT parquet)`);
  }
  connection.closeSync();
  instance.closeSync();
  const statement = ['select * from cost_and_usage order by day', '--json'];
  const ran = await (by === '--data'
    ? runOps('query', [...statement, '--data', data])
    : runOps('query', statement, { env: { DATA_DIR: data } }));
  await rm(data, { recursive: true });
  const stdout = [first, last].map((day) => `{"cost":7,"account":"a","day":"${day}"}\n`).join('');
  expect(ran).toMatchObject({ code: 0, stdout });
  expect(ran.stderr).toContain(`Note: 1 days between ${first} and ${last} have no files.`);
});

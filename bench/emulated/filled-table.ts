import { execFile } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { createGzip } from 'node:zlib';
import { type EmulatedTable, openEmulatedTable, tableDefinition } from '../../fixtures/emulated-table.ts';
import { dynamoDbProgram } from '../../local/emulators/dynamodb.ts';

const TABLE = 'spend';

const attribute = (value: unknown): object => {
  if (typeof value === 'string') return { S: value };
  if (typeof value === 'number') return { N: String(value) };
  if (typeof value === 'boolean') return { BOOL: value };
  if (value === null) return { NULL: true };
  if (value instanceof Uint8Array) return { B: Buffer.from(value).toString('base64') };
  if (value instanceof Set) return { SS: [...value] };
  if (Array.isArray(value)) return { L: value.map(attribute) };
  return { M: attributes(value as object) };
};

const attributes = (item: object): object =>
  Object.fromEntries(Object.entries(item).map(([name, value]) => [name, attribute(value)]));

/** An item as a line of a DynamoDB export. */
export const exportLine = (item: Readonly<Record<string, unknown>>): string =>
  `${JSON.stringify({ Item: attributes(item) })}\n`;

function* inPieces(lines: Iterable<string>): Generator<string> {
  let piece = '';
  for (const line of lines) {
    piece += line;
    if (piece.length < 2 ** 20) continue;
    yield piece;
    piece = '';
  }
  yield piece;
}

/**
 * The one table on an emulator of its own, filled by the emulator's import of a DynamoDB export: some 30,000 items a second,
 * where writing them through its API makes a few thousand.
 */
export const filledTable = async (lines: Iterable<string>): Promise<EmulatedTable> => {
  const dataDir = await mkdtemp(join(tmpdir(), 'bench-table-'));
  const source = join(dataDir, 'export');
  const schema = join(dataDir, 'schema.json');
  const { BillingMode, ...definition } = tableDefinition(TABLE);
  await mkdir(join(source, TABLE, 'data'), { recursive: true });
  await writeFile(schema, JSON.stringify({ Table: { ...definition, BillingModeSummary: { BillingMode } } }));
  const file = createWriteStream(join(source, TABLE, 'data', 'items.json.gz'));
  await pipeline(Readable.from(inPieces(lines)), createGzip({ level: 1 }), file);
  const output = join(dataDir, 'dynamodb.sqlite');
  await promisify(execFile)(dynamoDbProgram(), ['import', '--source', source, '--schema', schema, '--output', output]);
  await rm(source, { recursive: true });
  return openEmulatedTable(dataDir, TABLE);
};

import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import { uuidv7obj } from 'uuidv7';
import { requestPartition, serviceKeyKey, UNSEALED_SHARDS } from '../../lambda/data/keys.ts';
import { openSeals } from '../../lambda/data/seals.ts';
import type { Table } from '../../lambda/data/table.ts';
import { dueMarks } from '../../lambda/data/unsealed.ts';
import type { CloseEvent } from '../../lambda/domain/usage-event.ts';
import { openRecorder } from '../../lambda/usage-recorder/recorder.ts';
import { type EmulatedTable, emulatedTable } from '../../test/data/emulated-table.ts';
import { exportLine, filledTable } from '../emulated/filled-table.ts';

export const ACCOUNT = 'svc_scale';
export const SERVICE_KEY = 'svc_x';
/** Days that the records are spread over, today among them. */
export const DAYS = 28;
export const DAY_MS = 86_400_000;

const models = ['gpt-4o-2024-08-06', 'gpt-4o-mini-2024-07-18', 'o3-mini-2025-01-31'];
const tags = ['checkout', 'search', 'support', null];
/** Each model with each tag. */
const CROSSES = models.length * tags.length;

/** A UUIDv7 of a given time, as the gateway would have made it then. */
const requestIdAt = (ms: number): string => {
  const bytes = Uint8Array.from(uuidv7obj().bytes);
  new DataView(bytes.buffer).setUint16(0, Math.floor(ms / 2 ** 32));
  new DataView(bytes.buffer).setUint32(2, ms % 2 ** 32);
  return Buffer.from(bytes)
    .toString('hex')
    .replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, '$1-$2-$3-$4-$5');
};

/** The nth of some requests, which take turns in model and tag. */
export const chatCompletion = (ms: number, n: number): CloseEvent => ({
  kind: 'close',
  version: 1,
  requestId: requestIdAt(ms),
  accountId: ACCOUNT,
  keyId: 'key-1',
  provider: 'openai',
  providerKey: 'c0ffee',
  tag: tags[Math.floor(n / models.length) % tags.length] ?? null,
  tagTruncated: false,
  method: 'POST',
  path: '/v1/chat/completions',
  startedAt: new Date(ms).toISOString(),
  route: 'governed',
  outcome: 'completed',
  status: 200,
  ttfbMs: 400,
  totalMs: 1_800,
  overheadMs: 0.4,
  requestBytes: 2_000,
  responseBytes: 3_000,
  reading: {
    dialect: 'openai-chat',
    usage: { prompt_tokens: 800, completion_tokens: 240, total_tokens: 1_040 },
    usageSource: 'reported',
    complete: true,
    modelRequested: 'gpt-4o',
    modelAnswered: models[n % models.length] ?? null,
    streamed: false,
    serviceTier: 'default',
    extras: {},
  },
});

/** Twelve requests a day, one of each cross, through the recorder; days that are over are sealed. */
const recordDays = async (table: Table, now: Date): Promise<void> => {
  const record = openRecorder(table, { logger: { error: console.error } });
  for (let day = 0; day < DAYS; day++) {
    const startOfDay = Math.floor(now.getTime() / DAY_MS - day) * DAY_MS;
    const fates = await record(Array.from({ length: CROSSES }, (_, n) => chatCompletion(startOfDay + n, n)));
    if (fates.some(({ kind }) => kind !== 'recorded')) throw new Error('A request was not recorded.');
  }
  const seal = openSeals(table);
  for (let shard = 0; shard < UNSEALED_SHARDS; shard++)
    for await (const mark of dueMarks(table, shard, now.getTime())) await seal(mark);
};

const itemsOf = async ({ client, name }: Table): Promise<Record<string, unknown>[]> => {
  const items: Record<string, unknown>[] = [];
  let start: Record<string, unknown> | undefined;
  do {
    const page = await client.send(new ScanCommand({ TableName: name, ExclusiveStartKey: start }));
    items.push(...(page.Items ?? []));
    start = page.LastEvaluatedKey;
  } while (start);
  return items;
};

/** The lines, and of each request record as many copies under ids of its day as make so many records in all. */
function* withCopies(items: readonly Record<string, unknown>[], records: number): Generator<string> {
  const isRecord = ({ pk }: Record<string, unknown>) => String(pk).startsWith(requestPartition(ACCOUNT, ''));
  const copies = Math.max(0, Math.floor(records / items.filter(isRecord).length) - 1);
  for (const item of items) {
    const line = exportLine(item);
    yield line;
    if (!isRecord(item)) continue;
    const id = item['sk'] as string;
    const startOfDay = Math.floor(Date.parse(item['startedAt'] as string) / DAY_MS) * DAY_MS;
    for (let n = 1; n <= copies; n++)
      yield line.replace(id, requestIdAt(startOfDay + 1_000 + Math.floor((n * (DAY_MS - 2_000)) / copies)));
  }
}

/**
 * A table with one account of so many request records. Spend cells and summaries are those of its twelve crosses of model and tag,
 * whatever the number of records: that is what bounds them.
 */
export const accountWithRecords = async (
  records: number,
  now: Date,
): Promise<{ readonly table: EmulatedTable; readonly someId: string }> => {
  const seed = await emulatedTable();
  try {
    await recordDays(seed, now);
    const key = {
      ...serviceKeyKey(SERVICE_KEY),
      accountId: ACCOUNT,
      keyId: 'key-1',
      keyStatus: 'active',
      accountStatus: 'active',
    };
    const items = [key, ...(await itemsOf(seed))];
    const someId = items.find(({ pk }) => String(pk).startsWith(requestPartition(ACCOUNT, '')))?.['sk'] as string;
    return { table: await filledTable(withCopies(items, records)), someId };
  } finally {
    await seed.stop();
  }
};

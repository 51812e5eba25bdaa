/**
 * Cost per request as an account's data grows: admission, a month's spend, a page of the request log, one request. At 1,000,
 * 100,000 and more request records of one account none of them may grow. Times, and the read units DynamoDB would charge.
 *
 * node bench/scale.ts [--records 1000,100000]
 */
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { BatchWriteCommand, GetCommand } from '@aws-sdk/lib-dynamodb';
import { uuidv7obj } from 'uuidv7';
import { chunk } from '../lambda/data/chunk.ts';
import { requestKey, serviceKeyKey } from '../lambda/data/keys.ts';
import { requestRepository } from '../lambda/data/requests.ts';
import { spendReader } from '../lambda/data/spend.ts';
import type { Table } from '../lambda/data/table.ts';
import { forEachConcurrently } from '../lambda/domain/for-each-concurrently.ts';
import type { CloseEvent } from '../lambda/domain/usage-event.ts';
import { openRecorder } from '../lambda/usage-recorder/recorder.ts';
import { emulatedTable } from '../test/data/emulated-table.ts';

const { values: options } = parseArgs({ options: { records: { type: 'string', default: '1000,100000' } } });
const sizes = options.records.split(',').map(Number);

const ACCOUNT = 'svc_scale';
const DAYS = 28;
const DAY_MS = 86_400_000;
const SAMPLES = 60;
const now = Date.now();
const iso = (ms: number): string => new Date(ms).toISOString();

/** A UUIDv7 of a given time, as the gateway would have made it then. */
const requestIdAt = (ms: number): string => {
  const bytes = Uint8Array.from(uuidv7obj().bytes);
  new DataView(bytes.buffer).setUint16(0, Math.floor(ms / 2 ** 32));
  new DataView(bytes.buffer).setUint32(2, ms % 2 ** 32);
  return Buffer.from(bytes)
    .toString('hex')
    .replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, '$1-$2-$3-$4-$5');
};

const event = (ms: number, n: number): CloseEvent => ({
  kind: 'close',
  version: 1,
  requestId: requestIdAt(ms),
  accountId: ACCOUNT,
  keyId: 'key-1',
  provider: 'openai',
  providerKey: 'c0ffee',
  tag: n % 3 === 0 ? null : `tag-${n % 3}`,
  tagTruncated: false,
  method: 'POST',
  path: '/v1/chat/completions',
  startedAt: iso(ms),
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
    modelAnswered: n % 2 === 0 ? 'gpt-4o-2024-08-06' : 'gpt-4o-mini-2024-07-18',
    streamed: false,
    serviceTier: 'default',
    extras: {},
  },
});

/** One real request a day through the recorder, then copies of its item under other ids: the log grows, the cells are as they are. */
const fill = async (table: Table, records: number): Promise<void> => {
  const record = openRecorder(table, { logger: { error: console.error } });
  const perDay = Math.ceil(records / DAYS);
  for (let day = 0; day < DAYS; day++) {
    const startOfDay = Math.floor(now / DAY_MS - day) * DAY_MS;
    const firsts = [0, 1, 2, 3, 4, 5].map((n) => event(startOfDay + n, n));
    await record(firsts);
    const first = firsts[0] as CloseEvent;
    const key = requestKey(ACCOUNT, first.startedAt.slice(0, 10), first.requestId);
    const { Item: item } = await table.client.send(new GetCommand({ TableName: table.name, Key: key }));
    const copies = Array.from({ length: perDay }, (_, n) => {
      const requestId = requestIdAt(startOfDay + 10 + Math.floor((n * (DAY_MS - 20)) / perDay));
      return { ...item, requestId, sk: requestId };
    });
    await forEachConcurrently(chunk(copies, 25), 8, async (items) => {
      await table.client.send(
        new BatchWriteCommand({ RequestItems: { [table.name]: items.map((Item) => ({ PutRequest: { Item } })) } }),
      );
    });
  }
};

interface Consumed {
  readonly CapacityUnits?: number;
}

/** Adds up what DynamoDB would charge for reading. */
const countReads = (table: Table): (() => number) => {
  let units = 0;
  table.client.middlewareStack.add(
    (next) => async (args) => {
      const input = { ...(args.input as object), ReturnConsumedCapacity: 'TOTAL' };
      const result = await next({ ...args, input } as typeof args);
      const { ConsumedCapacity: consumed } = result.output as { ConsumedCapacity?: Consumed | Consumed[] };
      for (const each of [consumed ?? []].flat()) units += each.CapacityUnits ?? 0;
      return result;
    },
    { step: 'initialize', name: 'countReads' },
  );
  return () => {
    const taken = units;
    units = 0;
    return taken;
  };
};

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

const measure = async (name: string, action: () => Promise<unknown>, takeReads: () => number) => {
  const times: number[] = [];
  for (let i = 0; i < SAMPLES; i++) {
    const startedAt = performance.now();
    await action();
    times.push(performance.now() - startedAt);
  }
  return { name, ms: median(times), readUnits: takeReads() / SAMPLES };
};

const drain = async (cells: AsyncIterable<unknown>): Promise<void> => {
  for await (const _cell of cells);
};

const results: Record<string, unknown>[] = [];
for (const records of sizes) {
  const table = await emulatedTable();
  try {
    await fill(table, records);
    await table.client.send(
      new BatchWriteCommand({
        RequestItems: { [table.name]: [{ PutRequest: { Item: { ...serviceKeyKey('svc_x'), accountId: ACCOUNT } } }] },
      }),
    );
    const takeReads = countReads(table);
    const requests = requestRepository(table);
    const spend = spendReader(table);
    const span = { from: iso(now - DAYS * DAY_MS), to: iso(now + DAY_MS) };
    const { items } = await requests.page(ACCOUNT, { ...span, limit: 20 });
    const someId = items[0]?.requestId as string;
    takeReads();
    const month = {
      granularity: 'day',
      from: `${span.from.slice(0, 10)}T00:00:00.000Z`,
      to: `${span.to.slice(0, 10)}T00:00:00.000Z`,
    } as const;
    const taken = [
      await measure(
        'admission',
        () => table.client.send(new GetCommand({ TableName: table.name, Key: serviceKeyKey('svc_x') })),
        takeReads,
      ),
      await measure('spend, a month by day and model', () => drain(spend.cells(ACCOUNT, month, ['model'])), takeReads),
      await measure('request log, 20', () => requests.page(ACCOUNT, { ...span, limit: 20 }), takeReads),
      await measure('one request', () => requests.find(ACCOUNT, someId), takeReads),
    ];
    for (const { name, ms, readUnits } of taken)
      results.push({ records, what: name, ms: Number(ms.toFixed(2)), 'read units': Number(readUnits.toFixed(1)) });
  } finally {
    await table.stop();
  }
}

console.log(`Node ${process.version}, ${cpus()[0]?.model}, ${cpus().length} cores`);
console.table(results);
console.log(JSON.stringify({ bench: 'scale', node: process.version, results }));

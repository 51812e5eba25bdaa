/**
 * Usage events per second and DynamoDB write units per event, by how many events make a batch and how many accounts share it,
 * against one transaction per event. Everything in one run, on one emulator, in interleaved rounds: as the emulator responds, and
 * with each call taking longer by what a network and DynamoDB take.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { emulatedTable } from '../fixtures/emulated-table.ts';
import { interceptTable } from '../fixtures/intercept-table.ts';
import type { Table } from '../lambda/data/table/table.ts';
import type { CloseEvent } from '../lambda/domain/usage/usage-event.ts';
import { openRecorder, type Recorder } from '../lambda/usage-recorder/recorder.ts';
import { chatCompletion } from './events/chat-completion.ts';
import { median, report, rounded } from './report/figures.ts';
import { benchOptions } from './report/options.ts';

const {
  rounds,
  events: eventsPerRound,
  /** A write takes DynamoDB single-digit milliseconds, a transaction rather more; the emulator takes a fraction of one. */
  'latency-ms': latencyMs,
} = benchOptions('recorder', { rounds: 5, events: 600, 'latency-ms': 5 });
/** Recorders at work side by side, each on one batch (or one event) at a time. More would only queue up at the emulator, which writes one thing at a time. */
const CONCURRENCY = 2;
const WARM_UP_ROUNDS = 2;

/** With three models nine crosses, such as a busy account has. */
const tags = ['checkout', 'search', null];

/** Bytes of an attribute as DynamoDB counts them, near enough: names and text in UTF-8, numbers by their digits. */
const sizeOf = (value: unknown): number => {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (value instanceof Uint8Array) return value.length;
  if (typeof value === 'number') return Math.ceil(String(value).length / 2) + 1;
  return 1;
};
const recordUnits = (item: Record<string, unknown>): number =>
  2 * Math.ceil(Object.entries(item).reduce((sum, [name, value]) => sum + name.length + sizeOf(value), 0) / 1_024);

interface WriteUnits {
  all: number;
  ofRecords: number;
}

/** The same table, with writes counted as DynamoDB charges them and responses delayed. */
const meteredTable = (table: Table, units: WriteUnits, addedMs: number): Table => {
  return interceptTable(table, async (command, send) => {
    if (addedMs > 0) await sleep(addedMs);
    Object.assign(command.input, { ReturnConsumedCapacity: 'TOTAL' });
    const response = (await send()) as { ConsumedCapacity?: unknown };
    for (const consumed of [response.ConsumedCapacity ?? []].flat() as {
      CapacityUnits?: number;
      WriteCapacityUnits?: number;
    }[]) {
      const isRead = 'Key' in command.input && !('UpdateExpression' in command.input);
      if (!isRead && !('RequestItems' in command.input))
        units.all += consumed.WriteCapacityUnits ?? consumed.CapacityUnits ?? 0;
    }
    if (command.operation === 'TransactWriteItems')
      for (const { Put } of command.input.TransactItems ?? [])
        if (Put?.Item?.['details'] !== undefined) units.ofRecords += recordUnits(Put.Item);
    return response;
  });
};

/** Works off batches, so many at once, each worker with a recorder of its own as each Lambda instance has. */
const workOff = async (recorders: readonly Recorder[], batches: readonly CloseEvent[][]): Promise<void> => {
  let next = 0;
  await Promise.all(
    recorders.map(async (record) => {
      for (let batch = batches[next++]; batch; batch = batches[next++]) {
        const results = await record(batch);
        if (results.some(({ kind }) => kind !== 'recorded')) throw new Error('An event was not recorded.');
      }
    }),
  );
};

const inBatches = <T>(values: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(values.length / size) }, (_, i) => values.slice(i * size, (i + 1) * size));

const variants = [
  { name: 'one transaction per event', batchSize: 1, accounts: 1 },
  { name: 'batches of 10, one account', batchSize: 10, accounts: 1 },
  { name: 'batches of 100, one account', batchSize: 100, accounts: 1 },
  { name: 'batches of 100, 5 accounts', batchSize: 100, accounts: 5 },
  { name: 'batches of 100, 20 accounts', batchSize: 100, accounts: 20 },
  { name: 'batches of 100, 100 accounts', batchSize: 100, accounts: 100 },
];

const table = await emulatedTable();
try {
  const runs = [0, latencyMs].flatMap((addedMs) =>
    variants.map((variant) => {
      const units: WriteUnits = { all: 0, ofRecords: 0 };
      const open = () => openRecorder(meteredTable(table, units, addedMs), { logger: { error: console.error } });
      return {
        ...variant,
        addedMs,
        units,
        perSecond: [] as number[],
        recorders: Array.from({ length: CONCURRENCY }, open),
      };
    }),
  );
  // The first rounds warm code, caches and the counters of the day; they are not measured.
  for (let round = -WARM_UP_ROUNDS; round < rounds; round++) {
    for (const [index, { recorders, batchSize, accounts, perSecond, units }] of runs.entries()) {
      const events = Array.from({ length: eventsPerRound }, (_, n) =>
        chatCompletion(`svc_${index}_${n % accounts}`, tags, Math.floor(n / accounts), Date.now()),
      );
      const started = performance.now();
      await workOff(recorders, inBatches(events, batchSize));
      perSecond.push((1_000 * eventsPerRound) / (performance.now() - started));
      if (round >= 0) continue;
      perSecond.length = 0;
      Object.assign(units, { all: 0, ofRecords: 0 });
    }
  }
  const counted = rounds * eventsPerRound;
  const results = runs.map(({ name, batchSize, addedMs, perSecond, units }) => {
    const oneByOne = runs.find((run) => run.addedMs === addedMs && run.batchSize === 1);
    return {
      name,
      batchSize,
      addedMs,
      eventsPerSecond: Math.round(median(perSecond)),
      ratio: rounded(median(perSecond) / median(oneByOne?.perSecond ?? []), 1),
      unitsPerRecord: rounded(units.ofRecords / counted, 2),
      unitsBeyondRecord: rounded((units.all - units.ofRecords) / counted, 2),
    };
  });
  report('recorder', { rounds, eventsPerRound }, results);
} finally {
  await table.stop();
}

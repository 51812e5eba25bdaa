/**
 * What it takes to export a day of one account, to move its records from the table to a file, and to read from that file: processor time
 * and memory of the exporter's own code, with records as the table stores them. The table and the bucket are local files, and their
 * waiting times are not in it.
 */

import { closeSync, mkdtempSync, openSync, readSync, rmSync, statSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { priceRequest } from '../fixtures/bundled-prices.ts';
import type { DayFile } from '../lambda/data/requests/day-file.ts';
import { readBelow, readOne } from '../lambda/data/requests/day-file.ts';
import { parseRequestItem, requestItem } from '../lambda/data/requests/request-item.ts';
import { contributionOf } from '../lambda/domain/spend/contribution.ts';
import { addCounters, type Counters } from '../lambda/domain/spend/counters.ts';
import type { RequestRecord } from '../lambda/domain/spend/request-record.ts';
import { exportDay } from '../lambda/exporter/export-day.ts';
import { moveDay } from '../lambda/exporter/move-day.ts';
import type { ObjectStore } from '../lambda/integrations/object-store.ts';
import type { AccountCloseEvent } from '../lambda/usage-recorder/attribute-events.ts';
import { recordOfClose } from '../lambda/usage-recorder/build-record.ts';
import { chatCompletion, requestIdAt } from './events/chat-completion.ts';
import { median, report, rounded } from './report/figures.ts';
import { benchOptions } from './report/options.ts';

const { records } = benchOptions('exports', { records: 100_000 });

const DAY = '2026-10-01';
const ACCOUNT = '019ab3c0-0000-7000-8000-000000000000';
const SAMPLES = 200;
const start = Date.parse(DAY);

/** Stored records, of which copies under other ids make a day. */
const stored = Array.from({ length: 2_000 }, (_, n) => {
  const event = chatCompletion(ACCOUNT, ['checkout', 'search', null], n, start + n * 43_000) as AccountCloseEvent;
  const context = { revision: 1, overflowLevel: 0, recordedAt: event.startedAt, expiresAt: 2_000_000_000 };
  return requestItem(recordOfClose(event, priceRequest(event), null, context));
});
const itemBytes = median(stored.map((item) => item.details.length + item.pk.length + item.sk.length + 40));

let sums: Counters = {};
const requests = {
  async *all(): AsyncGenerator<RequestRecord> {
    sums = {};
    for (let n = records - 1; n >= 0; n--) {
      const at = start + Math.floor((n / records) * 86_400_000);
      const record = parseRequestItem({ ...stored[n % stored.length], sk: requestIdAt(at) });
      sums = addCounters(sums, contributionOf(record).counters);
      yield record;
    }
  },
};

/** Objects as files of a folder. Of an object in parts only the size counts, but for the file of the day. */
const folder = mkdtempSync(join(tmpdir(), 'exports-'));
const pathOf = (key: string): string => join(folder, key.replaceAll('/', '_'));
let calls = 0;
const append = (key: string, body: Uint8Array, flags: 'w' | 'a'): void => {
  calls += 1;
  const file = openSync(pathOf(key), flags);
  writeSync(file, body);
  closeSync(file);
};
const objects = {
  put: async (key: string, body: Uint8Array) => append(key, body, 'w'),
  beginUpload: async (key: string) => key,
  uploadPart: async (key: string, _id: string, part: number, body: Uint8Array) => {
    append(key, body, part === 1 ? 'w' : 'a');
    return String(part);
  },
  completeUpload: async () => {},
  abortUpload: async () => {},
  getRange: async (key: string, from: number, to: number) => {
    calls += 1;
    const file = openSync(pathOf(key), 'r');
    const bytes = new Uint8Array(to - from);
    readSync(file, bytes, 0, bytes.length, from);
    closeSync(file);
    return bytes;
  },
} as unknown as ObjectStore;

const shared = {
  accountTerms: { find: async () => ({ retentionDays: 400, isDeleted: false }) },
  requests,
  spendCounters: {
    async *days() {
      yield { counters: sums };
    },
  },
  marks: { markedPeriods: async () => [] },
  objects,
  auditLog: { findLast: async () => undefined },
  describeAccount: async () => ({ prices: [], months: {}, names: [], namesOf: () => ({ accountId: ACCOUNT }) }),
  tableDays: null,
  now: () => start + 60 * 86_400_000,
};
const never = () => false;

const results: Record<string, unknown>[] = [];
const measure = async (what: string, work: () => Promise<unknown>): Promise<void> => {
  calls = 0;
  const cpu = process.cpuUsage();
  const result = await work();
  const { user, system } = process.cpuUsage(cpu);
  results.push({
    what,
    microsecondsPerRecord: rounded((user + system) / records, 1),
    objectCalls: calls,
    peakMb: Math.round(process.resourceUsage().maxRSS / 2 ** 10),
    bytesPerRecord: rounded(Number(result) / records, 1),
  });
};

try {
  let exportedBytes = 0;
  await measure('export, all datasets in both formats', async () => {
    const dayExports = {
      finish: async (_due: unknown, exported: { files: Record<string, { bytes: number }> }) => {
        exportedBytes = Object.values(exported.files).reduce((sum, { bytes }) => sum + bytes, 0);
        return true;
      },
    };
    await exportDay({ ...shared, dayExports } as never)({ accountId: ACCOUNT, day: DAY, nonce: '' }, never);
    return exportedBytes;
  });

  let file: DayFile | undefined;
  await measure('move: write the file, and read it back', async () => {
    const dayFiles = {
      hold: async (entry: object) => ({ ...entry, holder: 'bench' }),
      release: async (_held: unknown, changes: { file?: DayFile }) => {
        file = changes.file;
        return true;
      },
    };
    const entry = { accountId: ACCOUNT, day: DAY, gsi1sk: '', returnedBlocks: 0 };
    await moveDay({ ...shared, table: undefined, dayFiles, tableDays: 30 } as never)(entry, never);
    if (!file) throw new Error('The day was not moved.');
    return statSync(pathOf(file.key)).size;
  });

  const ids: string[] = [];
  const timed = async (what: string, read: (n: number) => Promise<unknown>) => {
    const ms: number[] = [];
    calls = 0;
    for (let n = 0; n < SAMPLES; n++) {
      const began = performance.now();
      await read(n);
      ms.push(performance.now() - began);
    }
    results.push({ what, medianMs: rounded(median(ms), 1), objectCalls: rounded(calls / SAMPLES, 2) });
  };
  const someId = (n: number) => requestIdAt(start + Math.floor((n / SAMPLES) * 86_400_000));
  await timed('read: a block of 500 for the log', async (n) => {
    const page = await readBelow(objects, file as DayFile, { lowest: '', below: someId(n + 1) });
    ids.push(page.records[0]?.requestId ?? '');
  });
  await timed('read: one request by id', (n) => readOne(objects, file as DayFile, ids[n] as string));
  report('exports', { records, itemBytes }, results);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type EmulatedObjects, emulatedObjects } from '../../fixtures/emulated-objects.ts';
import { type EmulatedTable, emulatedTable } from '../../fixtures/emulated-table.ts';
import { openDayExports } from '../../lambda/data/exports/day-exports.ts';
import { openRollupMarks } from '../../lambda/data/ledger/rollup-marks.ts';
import { openRequests } from '../../lambda/data/requests/requests.ts';
import { openRollup } from '../../lambda/data/spend/rollup.ts';
import { openSpendCounters } from '../../lambda/data/spend/spend-counters.ts';
import { ROLLUP_MARK_SHARDS } from '../../lambda/data/table/keys.ts';
import { DAY_MS, HOUR_MS } from '../../lambda/domain/calendar/units.ts';
import { exportKey } from '../../lambda/domain/object-keys.ts';
import { exportDay } from '../../lambda/exporter/export-day.ts';
import { exportDueDays } from '../../lambda/exporter/export-due-days.ts';
import { openRecorder } from '../../lambda/usage-recorder/recorder.ts';
import { seedTraffic } from '../../local/seed/traffic.ts';
import { checkFocus } from '../../ops/focus/check.ts';
import { openQuery, type Query } from '../../ops/query/duckdb.ts';
import { newAccount } from '../data/new-account.ts';

/** A month and some days of the demo's workloads, of every provider and kind of price. */
const now = Date.parse('2026-11-20T06:00:00.000Z');
const FROM = '2026-11-12';
const DAYS = ['2026-11-12', '2026-11-13', '2026-11-14', '2026-11-15', '2026-11-16', '2026-11-17'];

let table: EmulatedTable;
let objects: EmulatedObjects;
let query: Query;
let accountId: string;
const counted: Record<string, number> = {};

const rollUpAll = async (): Promise<void> => {
  const rollup = openRollup(table, () => now);
  for (let shard = 0; shard < ROLLUP_MARK_SHARDS; shard++)
    for await (const mark of openRollupMarks(table, () => now + HOUR_MS).due(shard)) await rollup.rollUp(mark);
};

const exportAll = async (): Promise<void> => {
  const dayExports = openDayExports(table);
  const errors: unknown[] = [];
  await exportDueDays({
    dayExports,
    exportDay: exportDay({
      dayExports,
      requests: openRequests(table, () => now),
      spendCounters: openSpendCounters(table),
      marks: openRollupMarks(table, () => now),
      objects,
      now: () => now,
    }),
    logger: { error: (...fields: unknown[]) => errors.push(fields) },
    metrics: { addMetric: (name, _unit, value) => (counted[name] = (counted[name] ?? 0) + value) },
  })(() => 900_000);
  expect(errors).toEqual([]);
};

const ledgerSum = async () => {
  let [requests, costNanoUsd, unpriced, inputTokens] = [0, 0, 0, 0];
  const days = openSpendCounters(table).days(accountId, DAYS[0] as string, DAYS.at(-1) as string);
  for await (const { counters } of days) {
    requests += counters.requests ?? 0;
    costNanoUsd +=
      (counters.costProviderNanoUsd ?? 0) + (counters.costComputedNanoUsd ?? 0) + (counters.costEstimatedNanoUsd ?? 0);
    unpriced += counters.unpricedRequests ?? 0;
    inputTokens += counters.inputTokens ?? 0;
  }
  return { requests, costNanoUsd, unpriced, inputTokens };
};

beforeAll(async () => {
  [table, objects] = await Promise.all([emulatedTable(), emulatedObjects()]);
  ({ accountId } = await newAccount(table));
  const events = seedTraffic({ accountId, keyId: 'key-1', batchKeyId: 'key-2' }, new Date(now)).filter(
    ({ startedAt }) => startedAt >= FROM && Date.parse(startedAt) < now - DAY_MS,
  );
  const record = openRecorder(table, { logger: { error: () => {} }, now: () => now });
  for (let at = 0; at < events.length; at += 100) await record(events.slice(at, at + 100));
  await rollUpAll();
  await exportAll();
  query = await openQuery(objects.folder);
}, 300_000);
afterAll(async () => {
  query?.close();
  await Promise.all([table?.stop(), objects?.stop()]);
});

describe('the export of days', () => {
  it('adds up to the ledger, to the nano-dollar', async () => {
    const ledger = await ledgerSum();
    expect(ledger.requests).toBeGreaterThan(500);
    expect(ledger.unpriced).toBeGreaterThan(0);
    const inDays = `day BETWEEN '${DAYS[0]}' AND '${DAYS.at(-1)}'`;
    const [requests] = await query.rows(
      `SELECT count(*) AS requests, sum(cost_usd)::VARCHAR AS usd, count(*) FILTER (cost_usd IS NULL) AS unpriced, sum(input_tokens) AS input
       FROM requests WHERE ${inDays}`,
    );
    const usd = (ledger.costNanoUsd / 1e9).toFixed(9);
    expect(requests).toEqual({
      requests: String(ledger.requests),
      usd,
      unpriced: String(ledger.unpriced),
      input: String(ledger.inputTokens),
    });
    const [charges] = await query.rows(
      `SELECT sum(x_Requests) AS requests, sum(BilledCost)::VARCHAR AS billed, sum(EffectiveCost)::VARCHAR AS effective
       FROM cost_and_usage WHERE ${inDays}`,
    );
    expect(charges).toEqual({ requests: String(ledger.requests - ledger.unpriced), billed: usd, effective: usd });
  });

  it('follows FOCUS 1.2 with no error', async () => {
    expect(await checkFocus(query)).toEqual([]);
  });

  it('has the same rows as CSV', async () => {
    const key = exportKey(accountId, 'cost-and-usage', 'csv', DAYS[1] as string);
    const lines = gunzipSync((await objects.get(key)) as Uint8Array)
      .toString('utf8')
      .trimEnd()
      .split('\r\n');
    const [row] = await query.rows(`SELECT count(*) AS charges FROM cost_and_usage WHERE day = '${DAYS[1]}'`);
    expect(String(lines.length - 1)).toBe(row?.['charges']);
    expect(lines[0]?.split(',').slice(0, 3)).toEqual(['BilledCost', 'BillingAccountId', 'BillingAccountName']);
  });

  it('lists what was exported, and nothing is due', async () => {
    const listed = await openDayExports(table).list(accountId, DAYS[0] as string, DAYS.at(-1) as string);
    expect(listed.map(({ day }) => day)).toEqual(DAYS);
    const ledger = await ledgerSum();
    expect(listed.reduce((sum, { exported }) => sum + exported.costNanoUsd, 0)).toBe(ledger.costNanoUsd);
    for (let shard = 0; shard < ROLLUP_MARK_SHARDS; shard++)
      for await (const due of openDayExports(table).due(shard)) throw new Error(`${due.day} is due`);
  });
});

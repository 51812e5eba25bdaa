import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { emulatedObjects } from '../../fixtures/emulated-objects.ts';
import { type DueExport, openDayExports, requestExport } from '../../lambda/data/exports/day-exports.ts';
import { markForRollup } from '../../lambda/data/ledger/rollup-marks.ts';
import { openRequests } from '../../lambda/data/requests/requests.ts';
import { openSpendCounters } from '../../lambda/data/spend/spend-counters.ts';
import { ROLLUP_MARK_SHARDS } from '../../lambda/data/table/keys.ts';
import { write } from '../../lambda/data/table/write.ts';
import { DAY_MS, HOUR_MS } from '../../lambda/domain/calendar/units.ts';
import { endOf } from '../../lambda/domain/calendar/utc.ts';
import { exportKey, manifestKey } from '../../lambda/domain/object-keys.ts';
import { exportDay } from '../../lambda/exporter/export-day.ts';
import { openCsvFile } from '../../lambda/exporter/file-formats.ts';
import { openExporting } from '../../lambda/exporter/open-exporting.ts';
import { runDueDays } from '../../lambda/exporter/run-due-days.ts';
import { openRecorder } from '../../lambda/usage-recorder/recorder.ts';
import { seedTraffic } from '../../local/seed/traffic.ts';
import { checkFocus } from '../../ops/focus/check.ts';
import { openQuery, type Query } from '../../ops/query/duckdb.ts';
import { newAccount } from '../data/new-account.ts';
import { rollUpDue } from '../data/roll-up.ts';
import { forTests, tableForTests } from '../table-for-tests.ts';
import { closeEvent } from '../usage-recorder/events.ts';

/** A month and some days of the demo's workloads, of every provider and kind of price. */
const now = Date.parse('2026-11-20T06:00:00.000Z');
const FROM = '2026-11-12';
const DAYS = ['2026-11-12', '2026-11-13', '2026-11-14', '2026-11-15', '2026-11-16', '2026-11-17'];

const table = tableForTests();
const objects = forTests(emulatedObjects);
let query: Query;
let accountId: string;
const counted: Record<string, number> = {};

const rollUpAll = () => rollUpDue(table, now, now + HOUR_MS);

const dependencies = () => openExporting(table, objects, null, () => now);

/** All that is due, after the export of a day was requested. */
const requested = async (day: string | null): Promise<DueExport[]> => {
  if (day !== null) await write(table, requestExport(accountId, day, now));
  const found: DueExport[] = [];
  for (let shard = 0; shard < ROLLUP_MARK_SHARDS; shard++)
    for await (const due of openDayExports(table).due(shard)) found.push(due);
  return found;
};

const reported = (input: number, output: number) => ({
  usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output },
});

const exportAll = async (): Promise<void> => {
  const errors: unknown[] = [];
  await runDueDays({
    due: openDayExports(table).due,
    work: exportDay(dependencies()),
    metricNames: { exported: 'ExportedDays', expired: 'ExpiredExports' },
    failure: 'Day not exported',
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
  ({ accountId } = await newAccount(table));
  const events = seedTraffic({ accountId, keyId: 'key-1', batchKeyId: 'key-2' }, new Date(now)).filter(
    ({ startedAt }) => startedAt >= FROM && Date.parse(startedAt) < now - DAY_MS,
  );
  // The results of a batch, and the same fetched again.
  const path = '/v1/messages/batches/b/results';
  const usage = { input_tokens: 100, output_tokens: 10 };
  const reading = { dialect: 'anthropic-batch-output', modelServed: 'claude-haiku-4-5', usage } as const;
  for (const n of [1, 2])
    events.push(
      closeEvent({
        ...{ accountId, n, startedAt: `${FROM}T12:00:0${n}.000Z`, method: 'GET', path },
        ...{ provider: 'anthropic', reading },
      }),
    );
  const record = openRecorder(table, { logger: { error: () => {} }, now: () => now });
  for (let at = 0; at < events.length; at += 100) await record(events.slice(at, at + 100));
  await rollUpAll();
  await exportAll();
  query = await openQuery(objects.folder);
}, 300_000);
afterAll(() => query?.close());

describe('the export of days', () => {
  it('adds up to the ledger, to the nano-dollar', async () => {
    const ledger = await ledgerSum();
    expect(ledger.requests).toBeGreaterThan(500);
    expect(ledger.unpriced).toBeGreaterThan(0);
    const inDays = `day BETWEEN '${DAYS[0]}' AND '${DAYS.at(-1)}'`;
    const [requests] = await query.rows(
      `SELECT count(*) AS requests, sum(cost_usd)::VARCHAR AS usd, count(*) FILTER (cost_usd IS NULL) AS unpriced, sum(input_tokens) FILTER (repeat_of IS NULL) AS input,
         sum(input_tokens) FILTER (repeat_of IS NULL AND cost_usd IS NOT NULL) AS priced_input
       FROM requests WHERE ${inDays}`,
    );
    const usd = (ledger.costNanoUsd / 1e9).toFixed(9);
    expect(requests).toEqual({
      priced_input: expect.any(String),
      requests: String(ledger.requests),
      usd,
      unpriced: String(ledger.unpriced),
      input: String(ledger.inputTokens),
    });
    const [charges] = await query.rows(
      `SELECT sum(x_Requests) AS requests, sum(x_InputTokens) AS input, sum(BilledCost)::VARCHAR AS billed, sum(EffectiveCost)::VARCHAR AS effective
       FROM cost_and_usage WHERE ${inDays}`,
    );
    expect(charges).toEqual({
      ...{ requests: String(ledger.requests - ledger.unpriced), input: requests?.['priced_input'] },
      ...{ billed: usd, effective: usd },
    });
  });

  it('has a manifest that says what is in the files of a day', async () => {
    const [day] = DAYS as [string];
    const manifest = JSON.parse(Buffer.from((await objects.get(manifestKey(accountId, day))) ?? '').toString());
    const [{ exported } = {}] = await openDayExports(table).list(accountId, day, day);
    expect(manifest).toMatchObject({ day, exportedAt: exported?.at, requests: exported?.requests });
    expect(manifest.files).toHaveLength(6);
    for (const { dataset, format, bytes, sha256 } of manifest.files) {
      const file = (await objects.get(exportKey(accountId, dataset, format, day))) ?? Buffer.alloc(0);
      expect({ bytes, sha256 }).toEqual({
        bytes: file.length,
        sha256: createHash('sha256').update(file).digest('hex'),
      });
    }
  });

  it('follows FOCUS 1.2 with no error', async () => {
    expect(await checkFocus(query)).toEqual([]);
  });

  it('is checked by rules that find what is wrong', async () => {
    const broken = await openQuery(objects.folder);
    await broken.rows(
      `CREATE OR REPLACE TEMP VIEW cost_and_usage AS SELECT * EXCLUDE (PricingUnit) REPLACE (
         BilledCost::VARCHAR AS BilledCost, 'Other' AS ChargeCategory, '' AS SkuId, '[1]' AS Tags,
         ListUnitPrice * 2 AS ListUnitPrice, NULL::VARCHAR AS BillingCurrency), 1 AS Mine FROM memory.main.cost_and_usage`,
    );
    const errors = await checkFocus(broken);
    broken.close();
    for (const error of [
      'PricingUnit is missing',
      'BilledCost has type VARCHAR, not Decimal',
      'Mine is no column of FOCUS',
      'ChargeCategory is not one of the allowed values',
      'SkuId is empty',
      'Tags is no object',
      'ListCost is not ListUnitPrice times PricingQuantity',
      'BillingCurrency is null',
    ])
      expect(errors).toContainEqual(expect.stringContaining(error));
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

  it('leaves what is not known empty in CSV', () => {
    const columns = (['nanoUsd', 'count', 'text'] as const).map((type) => ({ name: type, type, of: () => null }));
    expect(gunzipSync(openCsvFile(columns).encode([{}])).toString('utf8')).toBe('nanoUsd,count,text\r\n,,\r\n');
  });

  it('writes numbers in CSV as FOCUS has them', () => {
    const columns = [{ name: 'price', type: 'number' as const, of: (row: unknown) => row as number }];
    const text = gunzipSync(openCsvFile(columns).encode([1.5e-7, 0.25, 1_000_000])).toString('utf8');
    expect(text).toBe('price\r\n1.5E-7\r\n0.25\r\n1000000\r\n');
  });

  it('tags request records with the days that the plan keeps them, and no charges', async () => {
    const [due] = await requested(DAYS[1] as string);
    const tags: unknown[] = [];
    await exportDay({
      ...dependencies(),
      objects: {
        ...objects,
        put: (key, body, download) => {
          if (!key.includes('/manifests/')) tags.push([key.split('/').slice(2, 4).join('/'), download.retentionDays]);
          return objects.put(key, body, download);
        },
      },
    })(due as DueExport, () => false);
    expect(tags).toEqual([
      ['cost-and-usage/parquet', undefined],
      ['cost-and-usage/csv', undefined],
      ['requests/parquet', 30],
      ['requests/csv', 30],
      ['names/parquet', undefined],
      ['names/csv', undefined],
    ]);
  });

  it.each([
    // Never before 30 days.
    [29, [30]],
    [30, []],
    [null, []],
  ])('has a day leave the table after %s days only if the plan has its records longer', async (tableDays, entered) => {
    const [due] = await requested(DAYS[1] as string);
    const entries: number[] = [];
    const enter = async (_id: string, day: string, dueMs: number) =>
      void entries.push((dueMs - endOf(day).getTime()) / DAY_MS);
    const dayFiles = { ...dependencies().dayFiles, enter };
    await exportDay({ ...dependencies(), tableDays, dayFiles })(due as DueExport, () => false);
    expect(entries).toEqual(entered);
  });

  it('lists what was exported, and nothing is due', async () => {
    const listed = await openDayExports(table).list(accountId, DAYS[0] as string, DAYS.at(-1) as string);
    expect(listed.map(({ day, dueSince }) => [day, dueSince])).toEqual(DAYS.map((day) => [day, null]));
    const ledger = await ledgerSum();
    expect(listed.reduce((sum, { exported }) => sum + (exported?.costNanoUsd ?? 0), 0)).toBe(ledger.costNanoUsd);
    for (let shard = 0; shard < ROLLUP_MARK_SHARDS; shard++)
      for await (const due of openDayExports(table).due(shard)) throw new Error(`${due.day} is due`);
  });
});

describe('a day that changes', () => {
  it('is exported again as a whole when a late event comes, and adds up again', async () => {
    const before = await ledgerSum();
    const late = closeEvent({
      ...{ accountId, startedAt: '2026-11-14T10:00:00.000Z', n: 7, reading: reported(1_000, 500) },
      tag: '=größe|"a"',
    });
    await openRecorder(table, { logger: { error: () => {} }, now: () => now })([late]);
    await rollUpAll();
    await exportAll();
    const after = await ledgerSum();
    expect(after.costNanoUsd).toBeGreaterThan(before.costNanoUsd);
    const reopened = await openQuery(objects.folder);
    const [sums] = await reopened.rows(
      `SELECT (SELECT sum(cost_usd)::VARCHAR FROM requests WHERE day BETWEEN '${DAYS[0]}' AND '${DAYS.at(-1)}') AS requests,
         (SELECT sum(BilledCost)::VARCHAR FROM cost_and_usage WHERE day BETWEEN '${DAYS[0]}' AND '${DAYS.at(-1)}') AS charges`,
    );
    // Text that a spreadsheet would run is changed in CSV only.
    const tagged = `FROM requests WHERE request_id = '${late.requestId}'`;
    expect(await reopened.rows(`SELECT tag ${tagged}`)).toEqual([{ tag: '=größe|"a"' }]);
    const csv = await objects.get(exportKey(accountId, 'requests', 'csv', '2026-11-14'));
    expect(gunzipSync(csv as Uint8Array).toString('utf8')).toContain(`,"'=größe|""a""",`);
    reopened.close();
    const usd = (after.costNanoUsd / 1e9).toFixed(9);
    expect(sums).toEqual({ requests: usd, charges: usd });
  });

  it('keeps its export, and stays due, while its records do not add up to its counters', async () => {
    const [due, ...others] = await requested('2026-11-13');
    expect(others).toEqual([]);
    const key = exportKey(accountId, 'requests', 'parquet', '2026-11-13');
    const before = await objects.get(key);
    const withoutOne = exportDay({
      ...dependencies(),
      requests: {
        ...openRequests(table),
        async *all(...args) {
          let skipped = false;
          for await (const record of openRequests(table).all(...args)) {
            if (skipped) yield record;
            skipped = true;
          }
        },
      },
    });
    await expect(withoutOne(due as DueExport, () => false)).rejects.toThrow('Records and counters differ.');
    expect(await objects.get(key)).toEqual(before);
    expect(await requested(null)).toEqual([due]);

    // A mark says that it changes: the rollup has it exported again.
    await write(table, markForRollup(accountId, '2026-11-13', now));
    expect(await withoutOne(due as DueExport, () => false)).toBe('changed');
  });

  it('is due again after another run exported it meanwhile, whose files may have been newer', async () => {
    const [due] = await requested('2026-11-13');
    const slow = exportDay({
      ...dependencies(),
      requests: {
        ...openRequests(table),
        async *all(...args) {
          yield* openRequests(table, () => now).all(...args);
          await exportDay(dependencies())(due as DueExport, () => false);
        },
      },
    });
    expect(await slow(due as DueExport, () => false)).toBe('changed');
    expect(await requested(null)).toEqual([{ ...due, nonce: expect.not.stringMatching(due?.nonce ?? '') }]);
  });

  it('keeps its export when its records have expired, and is not due any more', async () => {
    await rollUpAll();
    const [due] = await requested('2026-11-13');
    const gone = exportDay({
      ...dependencies(),
      requests: { ...openRequests(table), async *all() {} },
      now: () => now + 40 * DAY_MS,
    });
    const { all, ...others } = openRequests(table);
    async function* twice(...of: Parameters<typeof all>) {
      for (let n = 0; n < 2; n++) yield* all(...of);
    }
    const more = exportDay({ ...dependencies(), requests: { ...others, all: twice }, now: () => now + 40 * DAY_MS });
    await expect(more(due as DueExport, () => false)).rejects.toThrow('Records and counters differ.');
    expect(await gone(due as DueExport, () => false)).toBe('expired');
    expect(await requested(null)).toEqual([]);
    expect(
      (await openDayExports(table).list(accountId, '2026-11-13', '2026-11-13'))[0]?.exported?.requests,
    ).toBeGreaterThan(0);
  });

  it('is left to the next run when the time is up, and the run goes on to others after a failure', async () => {
    const [due] = await requested('2026-11-13');
    await expect(exportDay(dependencies())(due as DueExport, () => true)).rejects.toThrow('not exported yet');
    const metrics: string[] = [];
    const tried: string[] = [];
    await runDueDays({
      async *due(shard) {
        if (shard === 0)
          for (const day of ['2026-11-01', '2026-11-02']) yield { accountId: 'account', day, nonce: day };
      },
      metricNames: { exported: 'ExportedDays' },
      failure: 'Day not exported',
      work: async ({ day }) => {
        tried.push(day);
        if (day === '2026-11-01') throw new TypeError('account');
        return 'exported';
      },
      logger: { error: (...fields: unknown[]) => expect(JSON.stringify(fields)).not.toContain('account') },
      metrics: { addMetric: (name) => metrics.push(name) },
    })(() => 900_000);
    expect(tried).toEqual(['2026-11-01', '2026-11-02']);
    expect(metrics.sort()).toEqual(['ExportFailures', 'ExportedDays']);
  });
});

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type EmulatedObjects, emulatedObjects } from '../../../fixtures/emulated-objects.ts';
import { type EmulatedTable, emulatedTable } from '../../../fixtures/emulated-table.ts';
import { sendDestination } from '../../../lambda/account-jobs/send-destination.ts';
import { readExports } from '../../../lambda/dashboard/exports/list-exports.ts';
import { spendTools, type Tool, toolText } from '../../../lambda/dashboard/mcp/tools.ts';
import { readMetrics } from '../../../lambda/dashboard/metrics/operations.ts';
import { openSpendReads } from '../../../lambda/dashboard/open-spend-reads.ts';
import { dueJobs } from '../../../lambda/data/accounts/account-jobs.ts';
import { auditEntry } from '../../../lambda/data/accounts/audit-log.ts';
import { openDayExports } from '../../../lambda/data/exports/day-exports.ts';
import { openDestinations } from '../../../lambda/data/exports/destinations.ts';
import { openRollupMarks } from '../../../lambda/data/ledger/rollup-marks.ts';
import { openRequests } from '../../../lambda/data/requests/requests.ts';
import { openRollup } from '../../../lambda/data/spend/rollup.ts';
import { ROLLUP_MARK_SHARDS } from '../../../lambda/data/table/keys.ts';
import { HOUR_MS, MINUTE_MS } from '../../../lambda/domain/calendar/units.ts';
import type { DatasetName } from '../../../lambda/domain/exports/datasets.ts';
import { exportKey } from '../../../lambda/domain/object-keys.ts';
import type { RequestRecord } from '../../../lambda/domain/spend/request-record.ts';
import { exportDay } from '../../../lambda/exporter/export-day.ts';
import { openExporting } from '../../../lambda/exporter/open-exporting.ts';
import { runDueDays } from '../../../lambda/exporter/run-due-days.ts';
import { WebhookError } from '../../../lambda/integrations/webhook.ts';
import { openRecorder } from '../../../lambda/usage-recorder/recorder.ts';
import { openRepricer } from '../../../lambda/usage-recorder/reprice.ts';
import { openQuery } from '../../../ops/query/duckdb.ts';
import { newAccount } from '../../data/new-account.ts';
import { SEED } from '../../seed.ts';
import { closeEvent, priceOfTokens } from '../../usage-recorder/events.ts';
import { type Random, randomFrom } from '../random.ts';
import type { Scale, Scenario, ScenarioGroup } from '../scenario.ts';

interface Context {
  readonly table: EmulatedTable;
  readonly objects: EmulatedObjects;
}

const REQUESTS: Record<Scale, number> = { quick: 60, full: 1_000 };
const DAY = '2026-11-18';
const START = Date.parse(DAY);
/** Traffic of a day, what arrives up to 12 hours late, and time to export it. */
const [TRAFFIC_HOURS, LATE_HOURS, HOURS] = [24, 12, 44];
const STEP_MS = 10 * MINUTE_MS;
const STEPS = HOURS * (HOUR_MS / STEP_MS);
const REPRICED_AT = 30;
/** Receivers take nothing in these hours. */
const isDown = (ms: number): boolean => [5, 6, 26].includes(Math.floor((ms - START) / HOUR_MS));
const silent = { error: () => {} };

type Price = typeof priceOfTokens;
/** A token costs a third more. */
const newPrice: Price = (event) => {
  const priced = priceOfTokens(event);
  return { ...priced, costNanoUsd: priced.costNanoUsd && priced.costNanoUsd + Math.floor(priced.costNanoUsd / 3) };
};

/** What is sent in each step: some of it late, and some twice. */
const traffic = (accountId: string, keyId: string, count: number, random: Random) => {
  const steps = Array.from({ length: STEPS }, () => [] as ReturnType<typeof closeEvent>[]);
  for (let n = 0; n < count; n++) {
    const startedMs = START + random.below(TRAFFIC_HOURS * HOUR_MS);
    const event = closeEvent({
      ...{ accountId, keyId, n, startedAt: new Date(startedMs).toISOString() },
      provider: random.pick(['openai', 'anthropic', 'mistral']),
      tag: random.pick(['a', 'b', null]),
      ...(random.below(20) === 0 ? { reading: { usage: null } } : { tokens: 1 + random.below(1_000_000) }),
    });
    const lateMs = random.below(10) === 0 ? random.below(LATE_HOURS * HOUR_MS) : 0;
    const arrives = Math.floor((startedMs + lateMs - START) / STEP_MS);
    steps[arrives]?.push(event);
    if (random.below(10) === 0) steps[arrives + 1]?.push(event);
  }
  return steps;
};

/** A process that dies in the middle of its work: what it writes fails from some write on. */
const dying = (objects: EmulatedObjects, random: Random): EmulatedObjects => {
  // A day has six files and a manifest.
  let left = random.below(7);
  const orDie =
    <A extends unknown[], R>(call: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      if (left-- <= 0) throw new Error('The process died.');
      return call(...args);
    };
  return { ...objects, put: orDie(objects.put) };
};

/** A loader that keeps what the list of changes names, in a folder of its own. */
const openLoader = async ({ table, objects }: Context, accountId: string) => {
  const folder = await mkdtemp(join(tmpdir(), 'loader-'));
  let cursor: string | undefined;
  return {
    folder,
    load: async (now: number): Promise<void> => {
      const { listExportChanges: list } = readExports({
        ...{ dayExports: openDayExports(table), marks: openRollupMarks(table) },
        objects: { ...objects, signGet: async (key) => key },
        now: () => new Date(now),
      });
      const caller = { accountId, userId: 'loader', role: 'viewer', name: 'loader' } as const;
      const { items, nextCursor } = await list({ caller, query: { cursor, limit: 93 } } as never);
      for (const { day, files } of items)
        for (const { dataset, format, sha256 } of files.filter((file) => file.format === 'parquet')) {
          const key = exportKey(accountId, dataset as DatasetName, format, day);
          const bytes = (await objects.get(key)) ?? Buffer.alloc(0);
          // Replaced since it was listed: it is listed again.
          if (createHash('sha256').update(bytes).digest('hex') !== sha256) return;
          await mkdir(dirname(join(folder, key)), { recursive: true });
          await writeFile(join(folder, key), bytes);
        }
      cursor = nextCursor ?? cursor;
    },
    requestIds: async (): Promise<string[]> => {
      const query = await openQuery(folder);
      try {
        return (await query.rows('SELECT request_id FROM requests')).map((row) => String(row['request_id']));
      } catch {
        // There is no file yet.
        return [];
      } finally {
        query.close();
      }
    },
  };
};

const sumsOf = (records: readonly RequestRecord[]) => ({
  requests: records.length,
  nanoUsd: records.reduce((sum, { costNanoUsd }) => sum + (costNanoUsd ?? 0), 0),
  unknown: records.filter(({ costNanoUsd }) => costNanoUsd === null).length,
});
type Sums = ReturnType<typeof sumsOf>;

/** @returns the number that 99 % are not above */
const p99 = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.ceil(numbers.length * 0.99) - 1] ?? 0;

const nanoUsdOf = (usd: string): number => Number(BigInt(Math.round(Number(usd) * 1e9)));

const inDuckDb = async (folder: string): Promise<Sums> => {
  const query = await openQuery(folder);
  try {
    const [row = {}] = await query.rows(
      `SELECT count(*) AS requests, (sum(cost_usd) * 1000000000)::BIGINT::VARCHAR AS nano,
         count(*) FILTER (cost_usd IS NULL) AS unknown FROM requests`,
    );
    const [charged = {}] = await query.rows(
      'SELECT (sum(x_Cost) * 1000000000)::BIGINT::VARCHAR AS nano FROM cost_and_usage',
    );
    assert.equal(charged['nano'], row['nano'], 'the charges are the requests');
    return { requests: Number(row['requests']), nanoUsd: Number(row['nano']), unknown: Number(row['unknown']) };
  } finally {
    query.close();
  }
};

/** The sums of the month, as an agent and as Prometheus read them. */
const openReaders = ({ table }: Context, accountId: string) => {
  const caller = { accountId, userId: 'reader', role: 'owner', name: 'reader' } as const;
  return async (now: number): Promise<Record<'mcp' | 'prometheus', Sums>> => {
    const reads = openSpendReads(table, () => new Date(now));
    const spend = spendTools({ ...reads, now: () => new Date(now) }).find(({ name }) => name === 'spend') as Tool;
    const { totals } = JSON.parse(await toolText(spend, {}, { caller, requestId: 'r' }));
    const query = readMetrics.query.parse({});
    let text = '';
    for await (const part of await reads.readMetrics({ caller, query, requestId: 'r' } as never)) text += part;
    const sum = (name: string, only: RegExp) =>
      text
        .split('\n')
        .filter((line) => line.startsWith(`${name}{`) && only.test(line))
        .reduce((all, line) => all + Number(line.slice(line.lastIndexOf(' '))), 0);
    return {
      mcp: {
        requests: totals.requests,
        nanoUsd: totals.costUsd === 'unknown' ? 0 : nanoUsdOf(totals.costUsd),
        unknown: totals.unpricedRequests,
      },
      prometheus: {
        requests: sum('ai_spend_requests_total', /./),
        nanoUsd: Math.round(sum('ai_spend_cost_usd', /period="month"/) * 1e9),
        unknown: sum('ai_spend_unknown_cost_requests', /period="month"/),
      },
    };
  };
};

interface Manifest extends Record<'requests' | 'costNanoUsd' | 'unpricedRequests', number> {
  readonly day: string;
  readonly exportedAt: string;
}

/**
 * Addresses that follow the account. They are down for hours, refuse some posts, and take some whose response comes too late; and the process
 * that sends dies, before a post is taken or after.
 */
const openReceivers = async ({ table, objects }: Context, accountId: string, random: Random) => {
  const destinations = openDestinations(table);
  const manifests: (Manifest & { readonly receivedMs: number })[] = [];
  const logged = new Map<string, { readonly nanoUsd: number; readonly lagMs: number }>();
  let [metricNanoUsd, twiceNanoUsd, failures] = [0, 0, 0];
  let clock = START;
  const now = () => new Date(clock);
  for (const type of ['manifests', 'otlp'] as const)
    await destinations.create(
      {
        ...{ destinationId: type, accountId, name: type, type, url: `https://${type}`, secret: 's', headers: {} },
        ...{ isActive: true, createdAt: now().toISOString(), cursor: null, sentAt: null, failures: 0, problem: null },
      },
      auditEntry(accountId, {}, { action: 'destination.created' }, now()),
    );
  /** @returns what a second time would add once more */
  const receive = (url: string, body: string): number => {
    const sent = JSON.parse(body);
    if (url === 'https://manifests') manifests.push({ ...sent, receivedMs: clock });
    else if (url.endsWith('/v1/logs'))
      for (const { attributes, timeUnixNano } of sent.resourceLogs[0].scopeLogs[0].logRecords) {
        const attribute = (name: string) => attributes.find(({ key }: { key: string }) => key === name)?.value;
        const id = attribute('ai_spend.request.id').stringValue;
        const nanoUsd = Number(attribute('ai_spend.cost_nano_usd')?.intValue ?? 0);
        logged.set(id, { nanoUsd, lagMs: logged.get(id)?.lagMs ?? clock - Number(timeUnixNano) / 1e6 });
      }
    else {
      let added = 0;
      for (const { name, sum } of sent.resourceMetrics[0].scopeMetrics[0].metrics)
        if (name === 'ai_spend.cost')
          added += sum.dataPoints.reduce((all: number, { asInt }: { asInt: string }) => all + Number(asInt), 0);
      metricNanoUsd += added;
      return added;
    }
    return 0;
  };
  const { run: send } = sendDestination({
    destinations,
    dayExports: openDayExports(table),
    requests: openRequests(table, () => clock, objects),
    post: async ({ url }, body) => {
      const [isTaken, isRefused] = [!isDown(clock) && random.below(60) !== 0, isDown(clock) || random.below(30) === 0];
      const hasDied = random.below(120) === 0;
      const added = isTaken ? receive(url, body) : 0;
      if (isTaken && !isRefused && !hasDied) return;
      failures += 1;
      twiceNanoUsd += added;
      if (hasDied) throw new Error('The process died.');
      throw new WebhookError(isTaken ? 'it did not respond in time' : 'it responded with 503', { status: 503 });
    },
    now,
  });
  return {
    /** Runs the jobs that are due, as each minute does. */
    follow: async (at: number): Promise<void> => {
      clock = at;
      for (const { kind, accountId: of, sk } of await Array.fromAsync(dueJobs(table, now())))
        if (kind === 'destination' && of === accountId)
          await send(accountId, sk.replace('DESTINATION#', ''), () => false).catch((error: Error) =>
            assert.equal(error.message, 'The process died.'),
          );
    },
    /** Requests that began before this are sent, and no others. */
    sentUntil: async (): Promise<string> => (await destinations.find(accountId, 'otlp'))?.cursor ?? '',
    result: () => ({ manifests, logged, metricNanoUsd, twiceNanoUsd, failures }),
  };
};

const sinks: Scenario<Context> = {
  name: 'a day of late events, new prices, crashes and slow receivers',
  run: async (context, scale) => {
    const { table, objects } = context;
    const random = randomFrom(SEED);
    const { accountId, keyId } = await newAccount(table);
    const steps = traffic(accountId, keyId, REQUESTS[scale], random);
    const loader = await openLoader(context, accountId);
    const read = openReaders(context, accountId);
    const receivers = await openReceivers(context, accountId, random);
    /** Recorded before the minute in which they began was sent, with their cost. */
    const inTime = new Map<string, number>();
    /** When each was recorded, or its day ended: from then on an export has it. */
    const dueAt = new Map<string, number>();
    const lagsHours = new Map<string, number>();
    let [crashes, price] = [0, priceOfTokens as Price];
    try {
      for (const [step, events] of steps.entries()) {
        const now = START + (step + 1) * STEP_MS;
        const hour = (now - START) / HOUR_MS - 1;
        const clock = () => now;
        // An event marks its day for a rollup from its own time on.
        const soon = () => now + MINUTE_MS;
        const sentUntil = await receivers.sentUntil();
        await openRecorder(table, { logger: silent, price, now: clock })(random.shuffled(events));
        for (const event of events.filter(({ requestId }) => !dueAt.has(requestId))) {
          dueAt.set(event.requestId, Math.max(now, START + TRAFFIC_HOURS * HOUR_MS));
          if (event.startedAt >= sentUntil) inTime.set(event.requestId, price(event).costNanoUsd ?? 0);
        }
        await receivers.follow(now);
        if (!Number.isInteger(hour)) continue;
        const range = { from: new Date(START).toISOString(), to: new Date(START + 24 * HOUR_MS).toISOString() };
        const ledger = () => Array.fromAsync(openRequests(table, clock).all(accountId, range));
        if (hour === REPRICED_AT) {
          price = newPrice;
          await openRepricer(table, price, undefined, clock)(await ledger(), { dryRun: false });
        }
        const truth = sumsOf(await ledger());
        assert.deepEqual(await read(now), { mcp: truth, prometheus: truth }, `hour ${hour}`);
        for (let shard = 0; shard < ROLLUP_MARK_SHARDS; shard++)
          for await (const mark of openRollupMarks(table, soon).due(shard)) await openRollup(table, clock).rollUp(mark);
        // The first run of each hour dies, the next one goes on.
        for (const store of [dying(objects, random), objects])
          await runDueDays({
            due: openDayExports(table).due,
            work: exportDay(openExporting(table, store, null, clock)),
            metricNames: {},
            failure: 'Day not exported',
            logger: { error: () => (crashes += 1) },
            metrics: { addMetric: () => {} },
          })(() => 900_000);
        // A slow receiver comes every third hour. What is exported in this hour is listed in the next.
        if (hour % 3 !== 2 && hour < HOURS - 3) continue;
        await loader.load(now);
        for (const id of await loader.requestIds())
          if (!lagsHours.has(id)) lagsHours.set(id, (now - (dueAt.get(id) ?? 0)) / HOUR_MS);
      }
      const end = START + (HOURS + 1) * HOUR_MS;
      await loader.load(end);
      for (let at = START + HOURS * HOUR_MS + STEP_MS; at <= end; at += STEP_MS) await receivers.follow(at);
      const range = { from: new Date(START).toISOString(), to: new Date(START + 24 * HOUR_MS).toISOString() };
      const records = await Array.fromAsync(openRequests(table, () => end).all(accountId, range));
      const truth = sumsOf(records);
      assert.equal(truth.requests, REQUESTS[scale]);
      assert.ok(crashes > 0, 'some exports failed');
      assert.deepEqual(await inDuckDb(objects.folder), truth, 'DuckDB over the bucket');
      assert.deepEqual(await inDuckDb(loader.folder), truth, 'the loader');
      const { manifests, logged, metricNanoUsd, twiceNanoUsd, failures } = receivers.result();
      assert.ok(failures > 0, 'some posts failed');
      const last = manifests.findLast(({ day }) => day === DAY);
      const told = { requests: last?.requests, nanoUsd: last?.costNanoUsd, unknown: last?.unpricedRequests };
      assert.deepEqual(told, truth, 'the last manifest');
      const ofOtlp = new Map([...logged].map(([id, { nanoUsd }]) => [id, nanoUsd]));
      assert.deepEqual(
        new Map([...ofOtlp].sort()),
        new Map([...inTime].sort()),
        'what was recorded in time, at its cost',
      );
      const sum = (numbers: Iterable<number>) => [...numbers].reduce((all, number) => all + number, 0);
      // Metrics whose response came too late, or whose sender died, were sent again: a receiver cannot know.
      assert.equal(metricNanoUsd - twiceNanoUsd, sum(ofOtlp.values()), 'metrics and log records');
      const late = records.filter(({ requestId }) => !ofOtlp.has(requestId));
      const lateNanoUsd = sum(late.map(({ costNanoUsd }) => costNanoUsd ?? 0));
      const repricedNanoUsd = sum([...ofOtlp.values()].map((nanoUsd) => Math.floor(nanoUsd / 3)));
      assert.equal(sum(ofOtlp.values()) + lateNanoUsd + repricedNanoUsd, truth.nanoUsd, 'what OTLP lacks, and why');
      assert.equal(lagsHours.size, REQUESTS[scale], 'the loader saw every request');
      const manifestLags = [...dueAt.values()].map((due) => {
        const first = manifests.find(({ day, exportedAt }) => day === DAY && Date.parse(exportedAt) >= due);
        return ((first?.receivedMs ?? Number.NaN) - due) / HOUR_MS;
      });
      assert.ok(manifestLags.every(Number.isFinite), 'a manifest has every request');
      const lags = {
        manifests: p99(manifestLags).toFixed(1),
        loader: p99([...lagsHours.values()]).toFixed(1),
        otlp: (p99([...logged.values()].map(({ lagMs }) => lagMs)) / MINUTE_MS).toFixed(0),
      };
      const usd = (nanoUsd: number) => `$${(nanoUsd / 1e9).toFixed(9)}`;
      return [
        `${truth.requests} requests, ${usd(truth.nanoUsd)} and ${truth.unknown} unknown in DuckDB, loader, HTTPS, and each hour in Prometheus and MCP`,
        `OTLP ${usd(sum(ofOtlp.values()))}: without ${usd(lateNanoUsd)} of ${late.length} late requests and ${usd(repricedNanoUsd)} of the new price, ${usd(twiceNanoUsd)} twice in its metrics`,
        `p99 lag: Prometheus and MCP none, OTLP ${lags.otlp} min after the request, HTTPS ${lags.manifests} h and loader ${lags.loader} h after event and day`,
        `${crashes} exports and ${failures} posts failed`,
      ].join('; ');
    } finally {
      await rm(loader.folder, { recursive: true, force: true });
    }
  },
};

/** Everything that shows spend outside the dashboard, against the ledger. */
export const sinksGroup: ScenarioGroup<Context> = {
  title: 'sinks',
  open: async () => {
    const [table, objects] = await Promise.all([emulatedTable(), emulatedObjects()]);
    return { table, objects };
  },
  close: ({ table, objects }) => Promise.all([table.stop(), objects.stop()]),
  scenarios: [sinks],
};

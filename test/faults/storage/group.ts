import assert from 'node:assert/strict';
import { readSpend } from '../../../lambda/dashboard/spend/read-spend.ts';
import { openTrackingGaps } from '../../../lambda/data/ledger/tracking-gaps.ts';
import { openSpend } from '../../../lambda/data/spend/spend.ts';
import { trackingGaps } from '../../../lambda/domain/spend/tracking-gaps.ts';
import { DELIVERY_MS, eventually } from '../eventually.ts';
import { awsErrors, type Fault } from '../harness/fault-proxy.ts';
import { assertNowhere, filesUnder, itemsOf, sizeOf } from '../harness/left-behind.ts';
import { aroundNow, reconcile, recordsOf } from '../harness/reconcile.ts';
import { type FaultyGateway, openStorageHarness, type StorageHarness } from '../harness/storage-harness.ts';
import { drive, requestNumbers, type Sent, TRAFFIC_CREDENTIAL, untilGoverned } from '../harness/traffic.ts';
import type { Scale, Scenario, ScenarioGroup } from '../scenario.ts';

/** What a request may wait for us at most, to the response's headers; the provider's own time aside. */
const COLD_LOOKUP_MS = 500;
const OPEN_EVENT_GRACE_MS = 50;
/** For the slowest request and for half of them. On a busy machine few requests wait long; for a slow store (5 s) most would. */
const SLACK_MS: Record<Scale, { readonly max: number; readonly median: number }> = {
  quick: { max: 60_000, median: 2_200 },
  full: { max: 1_000, median: 500 },
};

const REQUESTS: Record<Scale, number> = { quick: 30, full: 400 };
const CLIENTS = 8;

const refuses: Fault = { kind: 'refuses' };
const silent: Fault = { kind: 'silent' };
const slow: Fault = { kind: 'slow', ms: 5_000 };
const responseLost: Fault = { kind: 'responseLost' };
const error = (which: keyof typeof awsErrors): Fault => ({ kind: 'error', ...awsErrors[which] });

interface StorageFault {
  readonly name: string;
  readonly table?: Fault;
  readonly queue?: Fault;
  readonly secrets?: Fault;
  /** The recorder cannot reach its table either. */
  readonly recorderTable?: Fault;
  /** The gateway knows the account's key already. */
  readonly warm?: boolean;
  readonly route: 'governed' | 'bypassed' | 'either';
  /** Clients that send at once: enough for their events to share messages. */
  readonly clients?: number;
  readonly fullOnly?: boolean;
}

const faults: readonly StorageFault[] = [
  { name: 'queue refuses', queue: refuses, route: 'bypassed' },
  { name: 'queue silent', queue: silent, route: 'bypassed' },
  { name: 'queue slow (5 s)', queue: slow, route: 'bypassed', fullOnly: true },
  { name: 'queue throttles', queue: error('sqsThrottled'), route: 'bypassed', fullOnly: true },
  { name: 'queue throttles (front end)', queue: error('throttled'), route: 'bypassed', fullOnly: true },
  { name: 'queue unavailable (503)', queue: error('unavailable'), route: 'bypassed', fullOnly: true },
  { name: 'queue refuses half of each batch', queue: { kind: 'halfBatch' }, route: 'either' },
  { name: 'queue loses its responses', queue: responseLost, route: 'bypassed', fullOnly: true },
  { name: 'queue refuses half of the shared messages', queue: { kind: 'halfBatch' }, route: 'either', clients: 96 },
  { name: 'queue loses its responses to shared messages', queue: responseLost, route: 'bypassed', clients: 96 },
  { name: 'table refuses, key known', table: refuses, warm: true, route: 'governed', fullOnly: true },
  { name: 'table refuses, key unknown', table: refuses, route: 'bypassed' },
  { name: 'table silent, key unknown', table: silent, route: 'bypassed', fullOnly: true },
  { name: 'table slow (5 s), key unknown', table: slow, route: 'bypassed', fullOnly: true },
  { name: 'table slow (5 s), key known', table: slow, warm: true, route: 'governed', fullOnly: true },
  { name: 'table throttles, key unknown', table: error('dynamoDbThrottled'), route: 'bypassed', fullOnly: true },
  { name: 'table fails (500), key unknown', table: error('internal'), route: 'bypassed', fullOnly: true },
  { name: 'table loses its responses, key unknown', table: responseLost, route: 'bypassed', fullOnly: true },
  { name: 'both refuse, key known', table: refuses, queue: refuses, warm: true, route: 'bypassed' },
  { name: 'both refuse, key unknown', table: refuses, queue: refuses, route: 'bypassed', fullOnly: true },
  { name: 'both silent, key unknown', table: silent, queue: silent, route: 'bypassed' },
  { name: 'both slow (5 s), key known', table: slow, queue: slow, warm: true, route: 'bypassed', fullOnly: true },
  {
    name: 'both throttle, key known',
    table: error('dynamoDbThrottled'),
    queue: error('sqsThrottled'),
    warm: true,
    route: 'bypassed',
    fullOnly: true,
  },
  {
    name: 'both lose their responses',
    table: responseLost,
    queue: responseLost,
    warm: true,
    route: 'bypassed',
    fullOnly: true,
  },
  { name: 'secrets refuse', secrets: refuses, route: 'governed', fullOnly: true },
  { name: 'secrets silent', secrets: silent, route: 'governed', fullOnly: true },
  {
    name: 'table gone for the recorder too',
    table: refuses,
    recorderTable: refuses,
    warm: true,
    route: 'governed',
    fullOnly: true,
  },
];

const ok: Fault = { kind: 'none' };

const spread = (sent: readonly Sent[]): { readonly p50: number; readonly max: number } => {
  const times = sent.map(({ headersMs }) => headersMs).sort((a, b) => a - b);
  return { p50: times[Math.floor(times.length / 2)] ?? 0, max: times.at(-1) ?? 0 };
};

const set = async (harness: StorageHarness, gateway: FaultyGateway, fault: StorageFault | undefined): Promise<void> => {
  await gateway.table.set(fault?.table ?? ok);
  await gateway.queue.set(fault?.queue ?? ok);
  await gateway.secrets.set(fault?.secrets ?? ok);
  await harness.recorderTable.set(fault?.recorderTable ?? ok);
};

/** Nothing waits in the queue or the outbox. */
const untilDelivered = async (harness: StorageHarness): Promise<void> => {
  await eventually(
    async () => (await harness.queues.pending()) === 0 && (await harness.waitingInOutbox()) === 0,
    'queue and outbox are empty',
    DELIVERY_MS,
  );
};

/** How many records have their end. An end that comes while sums are compared would make them differ. */
const endedRecords = async ({ table }: StorageHarness, accountId: string): Promise<number> =>
  (await recordsOf(table, accountId)).filter(({ outcome }) => outcome !== 'unknown').length;

const withGateway = async <T>(
  harness: StorageHarness,
  start: Parameters<StorageHarness['startGateway']>,
  run: (gateway: FaultyGateway, account: Awaited<ReturnType<StorageHarness['newAccount']>>) => Promise<T>,
): Promise<T> => {
  const account = await harness.newAccount();
  const gateway = await harness.startGateway(...start);
  try {
    return await run(gateway, account);
  } finally {
    await set(harness, gateway, undefined);
    await gateway.close();
  }
};

/** Faults come between two times of health; afterwards all that was sent is compared with all that is on record. */
const storageFault = (fault: StorageFault): Scenario<StorageHarness> => ({
  name: fault.name,
  fullOnly: fault.fullOnly ?? false,
  run: async (harness, scale) =>
    withGateway(harness, [], async (gateway, { accountId, accountKey: serviceKey }) => {
      const caller = { port: gateway.port, serviceKey };
      const numbers = requestNumbers();
      const before = fault.warm ? await untilGoverned(caller, numbers) : [];
      await set(harness, gateway, fault);
      const requests = Math.max(REQUESTS[scale], 2 * (fault.clients ?? 0));
      const during = await drive(fault.clients ?? CLIENTS, caller, numbers.some(requests), 5);
      if (fault.clients) assert.ok(gateway.queue.sharedMessages > 0, 'events share messages');
      await set(harness, gateway, undefined);
      const sent = [...before, ...during];
      const onRecord = async (): Promise<boolean> => (await endedRecords(harness, accountId)) === sent.length;
      await eventually(onRecord, 'all that was sent is on record', DELIVERY_MS);
      // The gateway asks a store that failed again after a second, or two.
      if (sent.at(-1)?.route !== 'governed') sent.push(...(await untilGoverned(caller, numbers)));
      await eventually(onRecord, 'what came after recovery is on record', DELIVERY_MS);
      if (scale === 'full') await untilDelivered(harness);
      const { records, untracked } = await reconcile(harness.table, accountId, sent);
      harness.seen.push({ accountId, sent });

      assert.ok(
        sent.every(({ status, whole }) => status === 200 && whole),
        'traffic flows',
      );
      const governed = during.filter(({ route }) => route === 'governed').length;
      if (fault.route === 'bypassed') assert.equal(governed, 0, 'clients see the route bypassed');
      // Not all: a busy machine's queue may take longer than the grace.
      if (fault.route === 'governed' || (fault.route === 'either' && scale === 'full'))
        assert.ok(governed > 0, 'tracking goes on');
      const { p50, max } = spread(during);
      const boundMs = (fault.table && !fault.warm ? COLD_LOOKUP_MS : 0) + OPEN_EVENT_GRACE_MS + SLACK_MS[scale].max;
      assert.ok(max < boundMs, `added latency: ${max} ms`);
      assert.ok(p50 < OPEN_EVENT_GRACE_MS + SLACK_MS[scale].median, `added latency: ${p50} ms (median)`);
      assert.deepEqual(untracked, []);
      return `${governed}/${during.length} governed; +${p50.toFixed(0)} ms p50, ${max.toFixed(0)} ms max; ${records.length}/${sent.length} on record`;
    }),
});

/** More than memory holds: the rest shows as a gap in GET /spend. */
const gap: Scenario<StorageHarness> = {
  name: 'both refuse for longer than memory lasts',
  run: async (harness, scale) =>
    withGateway(
      harness,
      [{ maxBytes: 10_000, retryMs: 300 }],
      async (gateway, { accountId, accountKey: serviceKey }) => {
        const caller = { port: gateway.port, serviceKey };
        const numbers = requestNumbers();
        const before = await drive(1, caller, numbers.some(2));
        await set(harness, gateway, { name: '', table: refuses, queue: refuses, route: 'bypassed' });
        const logged = harness.logged.length;
        const since = new Date().toISOString();
        const during = await drive(CLIENTS, caller, numbers.some(2 * REQUESTS[scale]), 5);
        const until = new Date().toISOString();
        const given = () => harness.logged.slice(logged).filter((line) => line.includes('not delivered')).length;
        await eventually(() => given() >= during.length, 'what nothing takes is in memory, or counted');
        await set(harness, gateway, undefined);
        const after = await drive(1, caller, numbers.some(2), 10);
        const sent = [...before, ...during, ...after];
        const all = async (): Promise<boolean> => {
          const { requests } = trackingGaps(await openTrackingGaps(harness.table).gaps(accountId, aroundNow()));
          return (await endedRecords(harness, accountId)) + requests >= sent.length;
        };
        await eventually(all, 'each request is on record or in a gap', DELIVERY_MS);
        const { records, untracked, bypassedLost } = await reconcile(harness.table, accountId, sent);
        const { requests, gaps } = trackingGaps(untracked);
        assert.ok(requests > 0, 'memory is full');
        assert.equal(records.length + requests, sent.length);
        assert.equal(bypassedLost, requests, 'the gap is as large as it is said to be');
        for (const { from, to } of gaps) assert.ok(from >= since && to <= until, 'and lies where it is said to lie');
        const spend = await readSpend({
          readCounters: openSpend(harness.table).read,
          findDeclared: async () => [],
          readTrackingGaps: openTrackingGaps(harness.table).gaps,
          now: () => new Date(),
        })({
          caller: { accountId, userId: 'user', role: 'owner' },
          query: { from: aroundNow().from.slice(0, 10), granularity: 'day', groupBy: [], limit: 100 },
          body: undefined,
          path: {},
        } as never);
        const { untracked: shown, totals } = spend as unknown as {
          untracked: { requests: number };
          totals: { requests: number };
        };
        assert.equal(shown.requests, requests, 'GET /spend shows it');
        assert.equal(totals.requests, records.length);
        return `${records.length} on record, ${requests} listed as untracked, of ${sent.length}`;
      },
    ),
};

/** Open events come late, and find their requests on record: they change nothing. */
const late: Scenario<StorageHarness> = {
  name: 'open events that arrive after all is recovered',
  run: async (harness) => {
    await untilDelivered(harness);
    for (const { accountId, sent } of harness.seen) await reconcile(harness.table, accountId, sent);
    return `${harness.seen.length} accounts unchanged`;
  },
};

/** What is logged, retried, recorded and written to the outbox in trouble. */
const nothingLeaves: Scenario<StorageHarness> = {
  name: 'no credential in what all of this left behind',
  run: async (harness) => {
    const places = [
      { name: 'what the gateways logged', text: harness.logged.join('\n') },
      { name: 'what the recorder logged', text: harness.recorder.lines.join('\n') },
      { name: 'items of the table', text: (await itemsOf(harness.table)).join('\n') },
      ...(await filesUnder(harness.dataDir)),
    ];
    assertNowhere({ credential: TRAFFIC_CREDENTIAL }, places);
    return `${places.length} places, ${sizeOf(places)}: none found`;
  },
};

export const storageGroup: ScenarioGroup<StorageHarness> = {
  title: 'Table and queue faults',
  open: openStorageHarness,
  close: (harness) => harness.close(),
  scenarios: [...faults.map(storageFault), gap, late, nothingLeaves],
};

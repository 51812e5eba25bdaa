import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { readOptions } from '../../ops/command.ts';
import { newAccount } from '../data/new-account.ts';
import { eventually } from './eventually.ts';
import type { PartStats } from './harness/parts/serve-part.ts';
import { openProcessHarness } from './harness/process-harness.ts';
import { reconcile } from './harness/reconcile.ts';
import { drive, requestNumbers } from './harness/traffic.ts';

const USAGE = `npm run soak [-- [--minutes N] [--rps N]]

Sends mixed traffic, half of it streamed, through a gateway alone in its process, and checks whether its heap, resident memory, sockets
and timers grow. It uses 127.0.0.1 only.

  --minutes N   how long traffic lasts (default: 10)
  --rps N       requests a second (default: 200)`;

const schema = z.object({ minutes: z.coerce.number().gt(0).default(10), rps: z.coerce.number().gt(0).default(200) });
const { minutes, rps } = readOptions({ usage: USAGE, schema });
const durationMs = minutes * 60_000;

/** Each sample collects garbage, which stops the gateway for longer than an open event may take: at 5 s it made 2 to 4 % `bypassed`. */
const SAMPLE_MS = 30_000;
/** Caches fill and code is compiled: what grows by then is no leak. */
const WARM_UP_SHARE = 0.3;
/** What noise may look like a slope of, over the time watched. */
const MAX_HEAP_GROWTH_BYTES = 8 * 2 ** 20;
const MAX_RSS_GROWTH_BYTES = 32 * 2 ** 20;
/** The recorder works on after the traffic is over: on two cores the emulators are slower than the gateway. */
const DELIVERY_MS = 900_000;
const POLL_MS = 2_000;
const CLIENTS = 64;

const mb = (bytes: number): string => (bytes / 2 ** 20).toFixed(1);

interface Sample extends PartStats {
  readonly atMs: number;
}

/** Growth over the samples by the line that fits them best. */
const growth = (samples: readonly Sample[], of: (sample: Sample) => number): number => {
  const meanX = samples.reduce((sum, { atMs }) => sum + atMs, 0) / samples.length;
  const meanY = samples.reduce((sum, sample) => sum + of(sample), 0) / samples.length;
  const top = samples.reduce((sum, sample) => sum + (sample.atMs - meanX) * (of(sample) - meanY), 0);
  const bottom = samples.reduce((sum, { atMs }) => sum + (atMs - meanX) ** 2, 0);
  const [first, last] = [samples[0], samples.at(-1)];
  return first && last && bottom > 0 ? (top / bottom) * (last.atMs - first.atMs) : 0;
};

const harness = await openProcessHarness({ chunkMs: 10, visibilitySeconds: 60 });
const { accountId, accountKey } = await newAccount(harness.table);
const gateway = harness.gateway();
const idleBefore = await gateway.stats();
console.log(`${rps} requests a second for ${minutes} minutes, half of them streamed.`);
console.log('   time    sent   heap MB    RSS MB   sockets   timers   queued');

const numbers = requestNumbers();
const startedAt = performance.now();
let sentSoFar = 0;
/** Gives out numbers at the rate asked for, however slow the clients are. */
const paced = (share: number) => {
  let given = 0;
  const next = numbers.while(() => performance.now() - startedAt < durationMs);
  return async (): Promise<number | undefined> => {
    const dueMs = (given++ / (rps * share)) * 1_000;
    const waitMs = startedAt + dueMs - performance.now();
    if (waitMs > 0) await sleep(waitMs);
    const n = next();
    if (n !== undefined) sentSoFar++;
    return n;
  };
};
const traffic = Promise.all(
  [false, true].map((stream) =>
    drive(CLIENTS / 2, { port: harness.gatewayPort(), serviceKey: accountKey, stream }, paced(0.5)),
  ),
);

const samples: Sample[] = [];
while (performance.now() - startedAt < durationMs) {
  await sleep(SAMPLE_MS);
  const sample = { ...(await gateway.stats()), atMs: performance.now() - startedAt };
  samples.push(sample);
  const { TCPSocketWrap: sockets = 0, Timeout: timers = 0 } = sample.resources;
  console.log(
    `${(sample.atMs / 1_000).toFixed(0).padStart(6)}s ${String(sentSoFar).padStart(7)} ${mb(sample.heapBytes).padStart(9)} ${mb(sample.rssBytes).padStart(9)} ${String(sockets).padStart(9)} ${String(timers).padStart(8)} ${String(await harness.queues.pending()).padStart(8)}`,
  );
}
const sent = (await traffic).flat();
const governed = sent.filter(({ route }) => route === 'governed');
const trafficEndedAt = performance.now();
const isWorkedOff = async (): Promise<boolean> =>
  (await harness.queues.pending()) === 0 && (await harness.waitingInOutbox()) === 0;
await eventually(isWorkedOff, 'queue and outbox are empty', DELIVERY_MS, POLL_MS);
const lagSeconds = (performance.now() - trafficEndedAt) / 1_000;
const { records } = await reconcile(harness.table, accountId, sent);
assert.equal(records.length, sent.length, 'every request is on record');
// Kept connections are closed by then: upstream's after 4 s, those to AWS after 5 s.
await sleep(8_000);
const idleAfter = await gateway.stats();
await harness.close();

const watched = samples.slice(Math.floor(samples.length * WARM_UP_SHARE));
const heapGrowth = growth(watched, ({ heapBytes }) => heapBytes);
const rssGrowth = growth(watched, ({ rssBytes }) => rssBytes);
const times = sent.map(({ headersMs }) => headersMs).sort((a, b) => a - b);
const at = (share: number): string => (times[Math.floor(times.length * share)] ?? 0).toFixed(1);
const cpuMs = (idleAfter.cpuSeconds - idleBefore.cpuSeconds) * 1_000;
const timersLeft = (idleAfter.resources['Timeout'] ?? 0) - (idleBefore.resources['Timeout'] ?? 0);
const { TCPSocketWrap: socketsLeft = 0 } = idleAfter.resources;

console.log(`
Sent        ${sent.length} (${(sent.length / (durationMs / 1_000)).toFixed(0)} a second), ${(100 * (1 - governed.length / sent.length)).toFixed(2)} % bypassed, ${records.length} on record ${lagSeconds.toFixed(0)} s after the last, counters exact
Responses     ${sent.filter(({ status, whole }) => status === 200 && whole).length} whole; headers after ${at(0.5)} ms p50, ${at(0.99)} ms p99
Heap        ${mb(heapGrowth)} MB of slope after warm-up; ${mb(idleBefore.heapBytes)} MB idle before, ${mb(idleAfter.heapBytes)} MB after
Resident    ${mb(rssGrowth)} MB of slope after warm-up
CPU         ${(cpuMs / sent.length).toFixed(2)} ms a request, the samples' garbage collections included
Left        ${socketsLeft} sockets (clients keep theirs), ${timersLeft} timers more than before`);

assert.ok(
  sent.every(({ status, whole }) => status === 200 && whole),
  'every response is whole',
);
assert.ok(heapGrowth < MAX_HEAP_GROWTH_BYTES, 'the heap does not grow');
assert.ok(rssGrowth < MAX_RSS_GROWTH_BYTES, 'resident memory does not grow');
assert.ok(timersLeft <= 2, 'no timer is left');
assert.ok(socketsLeft <= CLIENTS + 4, 'no socket is left but those that clients keep');
console.log('\nNo leak.');
process.exit(0);

/**
 * The whole path of a request: gateway, queue, recorder, table, each in a process of its own; queue and table are emulators, and the recorder's
 * batches are as the stack has them. The recorder's process also polls the queue and sweeps the outbox, which on AWS others do. How many
 * requests a second are sustained with everything on record, and which part is full: the share of one processor that each uses. Clients and
 * provider are in this process. Every request must be on record once, with exact counters.
 */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { benchOptions } from '../../bench/report/options.ts';
import { newAccount } from '../data/new-account.ts';
import { eventually } from './eventually.ts';
import { openProcessHarness } from './harness/process-harness.ts';
import { reconcile } from './harness/reconcile.ts';
import { drive, requestNumbers, untilGoverned } from './harness/traffic.ts';

const { seconds, clients } = benchOptions('path', { seconds: 20, clients: 16 });
const DELIVERY_MS = 180_000;
const POLL_MS = 100;

/** CPU time of a process, in seconds: a hundred ticks each. @see https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html */
const cpuSeconds = (pid: number): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
};

const childrenOf = (pid: number): string[] =>
  execFileSync('pgrep', ['-a', '-P', String(pid)], { encoding: 'utf8' })
    .trim()
    .split('\n');

/** The processes of the parts. The table's is a child of the shell that ends it with this process. */
const parts = (): Map<string, number> =>
  new Map(
    childrenOf(process.pid).flatMap((line): [string, number][] => {
      const [pid, name] = [Number.parseInt(line, 10), /parts\/(\w+)\.ts/.exec(line)?.[1]];
      if (name !== undefined) return [[name, pid]];
      const table = line.includes('dynoxide') && childrenOf(pid).find((child) => child.includes('dynoxide serve'));
      return table ? [['table', Number.parseInt(table, 10)]] : [];
    }),
  );

const harness = await openProcessHarness({ chunkMs: 1, visibilitySeconds: 60, batchWindowMs: 2_000 });
try {
  const { accountId, accountKey } = await newAccount(harness.table);
  const caller = { port: harness.gatewayPort(), serviceKey: accountKey };
  const isRecorded = async (): Promise<boolean> =>
    (await harness.queues.pending()) === 0 && (await harness.waitingInOutbox()) === 0;
  const numbers = requestNumbers();
  const sent = await untilGoverned(caller, numbers);
  sent.push(...(await drive(clients, caller, numbers.some(500))));
  await eventually(isRecorded, 'the warm-up is on record', DELIVERY_MS, POLL_MS);

  const pids = parts();
  const cpuOf = () => new Map([...pids].map(([name, pid]) => [name, cpuSeconds(pid)]));
  const [ownBefore, before, startedAt] = [process.cpuUsage(), cpuOf(), performance.now()];
  const callsBefore = harness.queueCalls();
  const secondsSince = (): number => (performance.now() - startedAt) / 1_000;
  const own = await drive(
    clients,
    caller,
    numbers.while(() => secondsSince() < seconds),
  );
  const takenIn = secondsSince();
  await eventually(isRecorded, 'every request is on record', DELIVERY_MS, POLL_MS);
  const recordedIn = secondsSince();
  const queueCalls = (harness.queueCalls() - callsBefore) / own.length;
  const after = cpuOf();
  const { user, system } = process.cpuUsage(ownBefore);
  const { records } = await reconcile(harness.table, accountId, [...sent, ...own]);
  assert.equal(records.length, sent.length + own.length, 'every request is on record');

  const row = (part: string, cpu: number) => ({
    part,
    'CPU ms a request': Number(((cpu * 1_000) / own.length).toFixed(2)),
    'share of a processor': Number((cpu / recordedIn).toFixed(2)),
    'requests/s on a whole one': Math.round(own.length / cpu),
  });
  const rows = [
    ...[...pids.keys()].map((name) => row(name, (after.get(name) ?? 0) - (before.get(name) ?? 0))),
    row('clients, provider', (user + system) / 1e6),
  ];
  console.table(rows);
  const results = {
    clients,
    requests: own.length,
    bypassed: own.filter(({ route }) => route === 'bypassed').length,
    takenPerSecond: Math.round(own.length / takenIn),
    onRecordPerSecond: Math.round(own.length / recordedIn),
    queueCallsPerRequest: Number(queueCalls.toFixed(3)),
    parts: rows,
  };
  console.log(JSON.stringify({ bench: 'path', at: new Date().toISOString(), node: process.version, ...results }));
} finally {
  await harness.close();
}
process.exit(0);

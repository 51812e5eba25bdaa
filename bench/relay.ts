/**
 * What the gateway adds: its node:http server with everything on (admission, metering, open and close events; the queue and the
 * table are fakes that respond at once), against the direct way, nginx, a bare Node pipe, a bare relay over undici's dispatch (the
 * floor: the gateway's own two HTTP stacks and nothing else), and Portkey's gateway. All in one run,
 * in interleaved rounds. One core for the proxy, the other for load and upstream. Needs nginx and wrk (Debian packages).
 *
 * node bench/relay.ts [--rounds N] [--seconds N] [--only gateway,nginx,pipe,dispatch,portkey] [--parts idle,load,paced,streams]
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { exchange, openStreams, STREAM_BODY, writeWrkScript, wrk } from './relay/load.ts';
import { type Contender, LOAD_CORE, REQUEST_BODY, startField } from './relay/peers.ts';
import { cpuSeconds, residentMB } from './relay/process.ts';
import { median, quantile, rounded } from './report/figures.ts';

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '2' },
    only: { type: 'string', default: '' },
    parts: { type: 'string', default: 'idle,load,paced,streams' },
  },
});
const rounds = Number(options.rounds);
const seconds = Number(options.seconds);
const parts = new Set(options.parts.split(','));

const workDir = await mkdtemp(join(tmpdir(), 'relay-'));
const cacheDir = join(import.meta.dirname, '../.cache');
const field = await startField(workDir, cacheDir, new Set(options.only.split(',').filter(Boolean)));
const { contenders } = field;
const proxies = contenders.filter(({ process }) => process);
const results: Record<string, unknown> = {};

/** Runs one measurement for each contender in turn, round after round. */
const interleaved = async <T>(
  who: readonly Contender[],
  count: number,
  measure: (contender: Contender) => Promise<T>,
): Promise<Map<string, T[]>> => {
  const taken = new Map<string, T[]>(who.map(({ name }) => [name, []]));
  for (let round = 0; round < count; round++)
    for (const contender of who) taken.get(contender.name)?.push(await measure(contender));
  return taken;
};

const table = (title: string, rows: readonly Record<string, unknown>[]): void => {
  console.log(`\n${title}`);
  console.table(rows);
  results[title] = rows;
};

const warmUp = async (): Promise<void> => {
  for (const contender of contenders)
    for (let i = 0; i < 200; i++)
      await exchange(contender.port, '/v1/chat/completions', contender.headers, REQUEST_BODY);
};

const load = async (): Promise<void> => {
  for (const connections of [1, 16, 64, 256]) {
    const taken = await interleaved(contenders, rounds, async (contender) => {
      const script = join(workDir, `${contender.name}.lua`);
      await writeWrkScript(script, contender.headers, REQUEST_BODY);
      const pid = await contender.process?.pid();
      const before = pid ? cpuSeconds(pid) : 0;
      const result = await wrk(script, contender.port, connections, seconds, LOAD_CORE);
      return { ...result, cpuMicros: pid ? ((cpuSeconds(pid) - before) * 1e6) / result.requests : 0 };
    });
    const rps = (name: string): number => median((taken.get(name) ?? []).map((one) => one.rps));
    table(
      `2 KB each way, ${connections} connection(s)`,
      [...taken].map(([name, all]) => ({
        proxy: name,
        rps: Math.round(rps(name)),
        'x nginx': rounded(rps(name) / rps('nginx'), 2),
        'p50 ms': rounded(median(all.map((one) => one.p50Ms)), 3),
        'p99 ms': rounded(median(all.map((one) => one.p99Ms)), 3),
        'CPU µs a request': rounded(median(all.map((one) => one.cpuMicros)), 1),
        errors: all.reduce((sum, one) => sum + one.errors, 0),
      })),
    );
  }
};

/** Times of a peaceful hour: what is added to them, by the side of the direct way. */
const addedTable = (title: string, taken: ReadonlyMap<string, readonly number[]>): void => {
  const direct = taken.get('direct') ?? [];
  table(
    title,
    [...taken].map(([proxy, all]) => ({
      proxy,
      'p50 added': rounded(median(all) - median(direct), 3),
      'p99 added': rounded(quantile(all, 0.99) - quantile(direct, 0.99), 3),
      p99: rounded(quantile(all, 0.99), 3),
    })),
  );
};

/** One request every 20 ms, to each contender in turn: of an origin that responds at once, and of one that takes 20 ms. */
const paced = async (): Promise<void> => {
  const pause = () => new Promise((resolve) => setTimeout(resolve, 20 / contenders.length));
  const atOnce = await interleaved(contenders, 400, async ({ port, headers }) => {
    await pause();
    return (await exchange(port, '/v1/chat/completions', headers, REQUEST_BODY)).totalMs;
  });
  addedTable('added at 50 requests a second, ms', atOnce);
  const afterAWhile = await interleaved(contenders, 150, async (contender) => {
    const { port, path, headers } = contender.stream(1, 20);
    return (await exchange(port, path, headers, STREAM_BODY)).ttfbMs;
  });
  addedTable('added to the first byte where the origin takes 20 ms, ms', afterAWhile);
};

const streams = async (): Promise<void> => {
  const slow = await interleaved(contenders, rounds * 4, (contender) => {
    const { port, path, headers } = contender.stream(100, 5);
    return exchange(port, path, headers, STREAM_BODY);
  });
  const of = (name: string, pick: 'ttfbMs' | 'totalMs'): number =>
    median((slow.get(name) ?? []).map((one) => one[pick]));
  const delay = (name: string, q: number): number =>
    quantile(
      (slow.get(name) ?? []).flatMap((one) => one.delaysMs),
      q,
    );
  table(
    '100 events, 5 ms apart: added, ms',
    [...slow.keys()].map((proxy) => ({
      proxy,
      'first byte': rounded(of(proxy, 'ttfbMs') - of('direct', 'ttfbMs'), 3),
      'an event (p50)': rounded(delay(proxy, 0.5) - delay('direct', 0.5), 3),
      'an event (p99)': rounded(delay(proxy, 0.99) - delay('direct', 0.99), 3),
      total: rounded(of(proxy, 'totalMs') - of('direct', 'totalMs'), 2),
    })),
  );
  const fast = await interleaved(proxies, rounds, async (contender) => {
    const pid = (await contender.process?.pid()) as number;
    const before = cpuSeconds(pid);
    const { port, path, headers } = contender.stream(1000, 0);
    await Promise.all(Array.from({ length: 64 }, () => exchange(port, path, headers, STREAM_BODY)));
    return ((cpuSeconds(pid) - before) * 1000) / 64;
  });
  table(
    '64 streams of 1,000 events at full speed',
    [...fast].map(([proxy, all]) => ({ proxy, 'CPU ms a stream': rounded(median(all), 2) })),
  );
};

const idle = async (): Promise<void> => {
  const rows = [];
  for (const contender of proxies) {
    const pid = (await contender.process?.pid()) as number;
    const before = residentMB(pid);
    const { port, path, headers } = contender.stream(1_000_000, 1_000);
    const close = await openStreams(port, path, headers, 500);
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    rows.push({ proxy: contender.name, 'MB before': rounded(before, 0), 'MB with 500': rounded(residentMB(pid), 0) });
    close();
  }
  table('resident memory with 500 idle streams', rows);
};

try {
  console.log(
    `Node ${process.version}, ${cpus()[0]?.model}, ${cpus().length} cores, ${new Date().toISOString().slice(0, 10)}`,
  );
  await warmUp();
  // First: load leaves every heap as large as it ever needed it.
  if (parts.has('idle')) await idle();
  if (parts.has('load')) await load();
  if (parts.has('paced')) await paced();
  if (parts.has('streams')) await streams();
  console.log(JSON.stringify({ bench: 'relay', node: process.version, results }));
} finally {
  await field.stop();
  await rm(workDir, { recursive: true, force: true });
}

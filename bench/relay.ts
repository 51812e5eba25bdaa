/**
 * What the gateway adds: its node:http server with everything on (admission, metering, open and close events; the queue and the
 * table are fakes that respond at once), against the direct way, nginx, a bare Node pipe, a bare relay over undici's dispatch (the
 * floor: the gateway's own two HTTP stacks and nothing else), the gateway without its events, and Portkey's gateway. All in one run,
 * in interleaved rounds after each has been warmed up until its CPU time a request is flat. All are started several times: what V8 compiles
 * and where memory lies differs by a tenth from one process to the next. Ratios are to a contender of the same round,
 * with 95 % confidence intervals. One core for the proxy, the other for load and upstream. Needs nginx and wrk (Debian packages).
 *
 * --only: any of gateway, nginx, pipe, dispatch, portkey, 'without events', with commas between
 * --before: another checkout of this repository, whose gateway runs in the same rounds
 */

import { mkdtemp, rm } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { exchange, openStreams, STREAM_BODY, writeWrkScript, wrk } from './relay/load.ts';
import { type Contender, LOAD_CORE, REQUEST_BODY, startField } from './relay/peers.ts';
import { cpuSeconds, residentMB } from './relay/process.ts';
import { intervalText, median, pairedRatio, quantile, rounded, withInterval } from './report/figures.ts';
import { benchOptions } from './report/options.ts';

const options = benchOptions('relay', {
  starts: 3,
  rounds: 12,
  only: '',
  parts: 'idle,load,paced,streams',
  before: '',
});
/** The rounds are of all starts together. */
const { starts, rounds } = options;
const parts = new Set(options.parts.split(','));

/** The floor of a relay on the gateway's own HTTP stacks. */
const FLOOR = 'dispatch';
const LOAD_SECONDS = 1;
/** Flat: the CPU time a request of three warm-ups in a row differs by less. */
const FLAT_WITHIN = 0.05;
const MAX_WARM_UPS = 10;

const workDir = await mkdtemp(join(tmpdir(), 'relay-'));
const cacheDir = join(import.meta.dirname, '../.cache');
const only = new Set(options.only.split(',').filter(Boolean));
let start = 0;
let contenders: readonly Contender[] = [];
let proxies: readonly Contender[] = [];
const results: Record<string, unknown> = {};

/** In a random order: who comes after whom changes what the caches hold and how deeply the processors sleep. */
const shuffled = <T>(all: readonly T[]): T[] =>
  all
    .map((one) => ({ one, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ one }) => one);

const takenBy = new Map<string, Map<string, unknown[]>>();

/**
 * Runs one measurement for each contender, round after round.
 *
 * @param count rounds of all starts together
 * @returns what was measured in this start and those before, by contender
 */
const interleaved = async <T>(
  name: string,
  who: readonly Contender[],
  count: number,
  measure: (contender: Contender) => Promise<T>,
): Promise<Map<string, T[]>> => {
  const taken = (takenBy.get(name) ?? new Map(who.map((contender) => [contender.name, []]))) as Map<string, T[]>;
  takenBy.set(name, taken);
  for (let round = 0; round < Math.ceil(count / starts); round++)
    for (const contender of shuffled(who)) taken.get(contender.name)?.push(await measure(contender));
  return taken;
};

/** After the last start. */
const table = (title: string, rows: readonly Record<string, unknown>[]): void => {
  if (start < starts) return;
  console.log(`\n${title}`);
  console.table(rows);
  results[title] = rows;
};

/** Load on one contender for LOAD_SECONDS. */
const loadOnce = async (contender: Contender, connections: number) => {
  const script = join(workDir, `${contender.name}.lua`);
  await writeWrkScript(script, contender.headers, REQUEST_BODY);
  const pid = await contender.process?.pid();
  const before = pid ? cpuSeconds(pid) : 0;
  const result = await wrk(script, contender.port, connections, LOAD_SECONDS, LOAD_CORE);
  return { ...result, cpuMicros: pid ? ((cpuSeconds(pid) - before) * 1e6) / result.requests : Number.NaN };
};

const warmUp = async (): Promise<void> => {
  for (const contender of proxies) {
    const taken: number[] = [];
    const isFlat = (): boolean => {
      const last = taken.slice(-3);
      return last.length === 3 && Math.max(...last) <= Math.min(...last) * (1 + FLAT_WITHIN);
    };
    while (taken.length < MAX_WARM_UPS && !isFlat()) taken.push((await loadOnce(contender, 64)).cpuMicros);
    console.log(`${contender.name}: CPU µs a request while warming up ${taken.map(Math.round).join(' ')}`);
  }
};

const load = async (): Promise<void> => {
  for (const connections of [64, 1, 16, 256]) {
    const count = connections === 64 ? rounds : Math.ceil(rounds / 3);
    const taken = await interleaved(`load ${connections}`, contenders, count, (contender) =>
      loadOnce(contender, connections),
    );
    const of = (name: string, pick: 'rps' | 'cpuMicros'): number[] => (taken.get(name) ?? []).map((one) => one[pick]);
    table(
      `2 KB each way, ${connections} connection(s)`,
      [...taken].map(([name, all]) => ({
        proxy: name,
        rps: Math.round(median(of(name, 'rps'))),
        [`rps / ${FLOOR}`]: intervalText(pairedRatio(of(name, 'rps'), of(FLOOR, 'rps'))),
        'CPU µs a request': rounded(median(of(name, 'cpuMicros')), 1),
        [`CPU / ${FLOOR}`]: intervalText(pairedRatio(of(name, 'cpuMicros'), of(FLOOR, 'cpuMicros'))),
        'p50 ms': rounded(median(all.map((one) => one.p50Ms)), 3),
        'p99 ms': rounded(median(all.map((one) => one.p99Ms)), 3),
        errors: all.reduce((sum, one) => sum + one.errors, 0),
      })),
    );
  }
};

type Times = ReadonlyMap<string, readonly number[]>;

const drawn = (taken: Times, name: string, rounds: readonly number[]): number =>
  median(rounds.map((round) => taken.get(name)?.[round] as number));

/** What each adds to the direct way in the median, in ms, and the ratio to what another adds. */
const added = (taken: Times, proxy: string, to: string) => {
  const count = taken.get(proxy)?.length ?? 0;
  const addedBy = (name: string, rounds: readonly number[]) =>
    drawn(taken, name, rounds) - drawn(taken, 'direct', rounds);
  return {
    'p50 added': intervalText(
      withInterval(count, (rounds) => addedBy(proxy, rounds)),
      3,
    ),
    [`added / ${to}`]: intervalText(withInterval(count, (rounds) => addedBy(proxy, rounds) / addedBy(to, rounds))),
  };
};

const addedTable = (title: string, taken: Times, to: string): void => {
  const direct = taken.get('direct') ?? [];
  table(
    title,
    [...taken].map(([proxy, all]) => ({
      proxy,
      ...added(taken, proxy, to),
      'p99 added': rounded(quantile(all, 0.99) - quantile(direct, 0.99), 3),
    })),
  );
};

/** One request every 20 ms, to each contender in turn: of an origin that responds at once, and of one that takes 20 ms. */
const paced = async (): Promise<void> => {
  const pause = () => new Promise((resolve) => setTimeout(resolve, 20 / contenders.length));
  const atOnce = await interleaved('at once', contenders, 600, async ({ port, headers }) => {
    await pause();
    return (await exchange(port, '/v1/chat/completions', headers, REQUEST_BODY)).totalMs;
  });
  addedTable('added at 50 requests a second, ms', atOnce, 'pipe');
  const afterAWhile = await interleaved('after a while', contenders, 250, async (contender) => {
    const { port, path, headers } = contender.stream(1, 20);
    return (await exchange(port, path, headers, STREAM_BODY)).ttfbMs;
  });
  addedTable('added to the first byte where the origin takes 20 ms, ms', afterAWhile, FLOOR);
};

const streams = async (): Promise<void> => {
  const slow = await interleaved('slow streams', contenders, rounds, (contender) => {
    const { port, path, headers } = contender.stream(100, 5);
    return exchange(port, path, headers, STREAM_BODY);
  });
  const delays: Times = new Map(
    [...slow].map(([name, all]) => [name, all.map(({ delaysMs }) => median(delaysMs))] as const),
  );
  addedTable('added to an event of a stream, 100 events, 5 ms apart, ms', delays, FLOOR);
  const fast = await interleaved('fast streams', proxies, rounds, async (contender) => {
    const pid = (await contender.process?.pid()) as number;
    const before = cpuSeconds(pid);
    const { port, path, headers } = contender.stream(1000, 0);
    await Promise.all(Array.from({ length: 64 }, () => exchange(port, path, headers, STREAM_BODY)));
    return ((cpuSeconds(pid) - before) * 1000) / 64;
  });
  table(
    '64 streams of 1,000 events at full speed',
    [...fast].map(([proxy, all]) => ({
      proxy,
      'CPU ms a stream': rounded(median(all), 2),
      [`CPU / ${FLOOR}`]: intervalText(pairedRatio(all, fast.get(FLOOR) ?? [])),
    })),
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
  const title = 'resident memory with 500 idle streams';
  console.log(`\n${title}`);
  console.table(rows);
  results[title] = rows;
};

try {
  console.log(
    `Node ${process.version}, ${cpus()[0]?.model}, ${cpus().length} cores, ${new Date().toISOString().slice(0, 10)}`,
  );
  while (++start <= starts) {
    const field = await startField(workDir, cacheDir, only, options.before || undefined);
    contenders = field.contenders;
    proxies = contenders.filter(({ process }) => process);
    try {
      // First: load leaves every heap as large as it ever needed it.
      if (parts.has('idle') && start === 1) await idle();
      await warmUp();
      if (parts.has('load')) await load();
      if (parts.has('paced')) await paced();
      if (parts.has('streams')) await streams();
    } finally {
      await field.stop();
    }
  }
  console.log(JSON.stringify({ bench: 'relay', node: process.version, results }));
} finally {
  await rm(workDir, { recursive: true, force: true });
}

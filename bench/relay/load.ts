import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface Load {
  readonly rps: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly requests: number;
  readonly errors: number;
}

const ms = (text: string | undefined): number => {
  const [, value, unit] = /([\d.]+)(us|ms|s)/.exec(text ?? '') ?? [];
  return Number(value) * (unit === 's' ? 1000 : unit === 'us' ? 0.001 : 1);
};

/** wrk on one core: closed loop over so many connections for so many seconds. Only ever to 127.0.0.1. */
export const wrk = async (
  script: string,
  port: number,
  connections: number,
  seconds: number,
  core: number,
): Promise<Load> => {
  const { stdout } = await run('taskset', [
    '-c',
    String(core),
    'wrk',
    '-t1',
    `-c${connections}`,
    `-d${seconds}s`,
    '--latency',
    '-s',
    script,
    `http://127.0.0.1:${port}/v1/chat/completions`,
  ]);
  const bad = Number(/Non-2xx or 3xx responses: (\d+)/.exec(stdout)?.[1] ?? 0);
  const socket =
    /Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)/.exec(stdout)?.slice(1).map(Number) ?? [];
  return {
    rps: Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1]),
    p50Ms: ms(/\s50%\s+(\S+)/.exec(stdout)?.[1]),
    p99Ms: ms(/\s99%\s+(\S+)/.exec(stdout)?.[1]),
    requests: Number(/(\d+) requests in/.exec(stdout)?.[1]),
    errors: bad + socket.reduce((sum, count) => sum + count, 0),
  };
};

export const writeWrkScript = (file: string, headers: Record<string, string>, body: string): Promise<void> =>
  writeFile(
    file,
    `wrk.method = "POST"\nwrk.body = [[${body}]]\n${Object.entries(headers)
      .map(([name, value]) => `wrk.headers["${name}"] = "${value}"`)
      .join('\n')}\n`,
  );

/** Idle connections are closed before a Node server closes them, which is after 5 s. */
const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY, timeout: 3_000 });
const clockMs = (): number => performance.timeOrigin + performance.now();

interface Exchange {
  readonly ttfbMs: number;
  readonly totalMs: number;
  /** Of each event: from its writing at the origin to its arrival here. */
  readonly delaysMs: number[];
}

export const exchange = (
  port: number,
  path: string,
  headers: Record<string, string>,
  body: string,
): Promise<Exchange> =>
  new Promise((resolve, reject) => {
    const startedAt = clockMs();
    let ttfbMs = 0;
    const delaysMs: number[] = [];
    const outgoing = request(
      {
        agent,
        host: '127.0.0.1',
        port,
        path,
        method: 'POST',
        headers: { ...headers, 'Content-Length': Buffer.byteLength(body) },
      },
      (response) => {
        if (response.statusCode !== 200) reject(new Error(`status ${response.statusCode} on port ${port}`));
        response.on('data', (chunk: Buffer) => {
          const now = clockMs();
          ttfbMs ||= now - startedAt;
          for (const [, at] of chunk.toString('latin1').matchAll(/"at":([\d.]+)/g)) delaysMs.push(now - Number(at));
        });
        response.on('end', () => resolve({ ttfbMs, totalMs: clockMs() - startedAt, delaysMs }));
        response.on('error', reject);
      },
    );
    // A server may close an idle connection just then: a new one is asked.
    outgoing.on('error', (error) =>
      outgoing.reusedSocket && ttfbMs === 0 ? resolve(exchange(port, path, headers, body)) : reject(error),
    );
    outgoing.end(body);
  });

/** What asks for a stream. */
export const STREAM_BODY = '{"model":"m","stream":true}';
const FIRST_EVENT_MS = 20_000;

/** Streams that begin and then pause until the caller ends them. */
export const openStreams = async (
  port: number,
  path: string,
  headers: Record<string, string>,
  count: number,
): Promise<() => void> => {
  const open: { destroy(): void }[] = [];
  const one = () =>
    new Promise<void>((resolve, reject) => {
      const outgoing = request({ agent: false, host: '127.0.0.1', port, path, method: 'POST', headers }, (response) => {
        response.once('data', () => resolve());
        response.on('error', reject);
      });
      outgoing.on('error', reject);
      outgoing.setTimeout(FIRST_EVENT_MS, () => outgoing.destroy(new Error(`no event within ${FIRST_EVENT_MS} ms`)));
      outgoing.end(STREAM_BODY);
      open.push(outgoing);
    });
  for (let started = 0; started < count; started += 50) await Promise.all(Array.from({ length: 50 }, one));
  return () => {
    for (const each of open) each.destroy();
  };
};

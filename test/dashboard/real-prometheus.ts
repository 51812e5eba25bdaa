import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** A real Prometheus, where one is installed (`apt install prometheus`). CI has it. */
export const isPrometheusInstalled = spawnSync('prometheus', ['--version']).status === 0;

interface Series {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [number, string];
}

/** Runs Prometheus in a folder that has its `prometheus.yml`. */
export const startPrometheus = async (dir: string) => {
  const child = spawn(
    'prometheus',
    [
      `--config.file=${dir}/prometheus.yml`,
      `--storage.tsdb.path=${dir}/data`,
      '--storage.tsdb.retention.time=100y',
      '--web.listen-address=127.0.0.1:0',
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  // It listens at a free port, and says at which.
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let words = '';
  createInterface(child.stderr)
    .on('line', (line) => {
      words = line;
      const [, found] = /"Listening on".* address=\S+:(\d+)/.exec(line) ?? [];
      if (found) resolve(found);
    })
    .once('close', () => reject(new Error(`Prometheus did not start: ${words}`)));
  const port = await promise;
  return {
    /** @param atMs epoch milliseconds; now, if none */
    query: async (text: string, atMs?: number): Promise<Series[]> => {
      const parameters = { query: text, ...(atMs !== undefined && { time: String(atMs / 1_000) }) };
      const response = await fetch(`http://127.0.0.1:${port}/api/v1/query?${new URLSearchParams(parameters)}`);
      const body = (await response.json()) as { status: string; error: string; data: { result: Series[] } };
      if (body.status !== 'success') throw new Error(`${text}: ${body.error}`);
      return body.data.result;
    },
    stop: async (): Promise<void> => {
      if (child.exitCode !== null) return;
      child.kill();
      await once(child, 'exit');
    },
  };
};

export type Prometheus = Awaited<ReturnType<typeof startPrometheus>>;

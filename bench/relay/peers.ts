import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import getPort from 'get-port';
import { newAccountKey } from '../../lambda/domain/accounts/issued-secret.ts';
import { bundled } from './bundle.ts';
import { originServers, proxyServers, startNginx } from './nginx.ts';
import { type Running, startNode } from './process.ts';

/** The proxy under test has one core for itself; load and upstream share the other. */
const PROXY_CORE = 0;
export const LOAD_CORE = 1;

export interface Contender {
  readonly name: string;
  readonly port: number;
  readonly headers: Record<string, string>;
  /** Where a stream of so many events, so many ms apart, is asked for. */
  readonly stream: (events: number, everyMs: number) => { port: number; path: string; headers: Record<string, string> };
  /** Undefined for the direct way. */
  readonly process?: Running;
}

const KEY = newAccountKey((size) => new Uint8Array(size).fill(7));
const pad = (bytes: number): string => 'x'.repeat(bytes);
export const REQUEST_BODY = JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content: pad(1_960) }] });
const RESPONSE = JSON.stringify({
  id: 'c',
  object: 'chat.completion',
  model: 'gpt-4o',
  choices: [{ message: { role: 'assistant', content: pad(1_800) } }],
  usage: { prompt_tokens: 500, completion_tokens: 450, total_tokens: 950 },
});
const item = JSON.stringify({
  Item: { accountId: { S: KEY }, keyId: { S: 'bench' }, keyStatus: { S: 'active' }, accountStatus: { S: 'active' } },
});

const streamPath = (events: number, everyMs: number): string => `/v1/stream/${events}/${everyMs}/chat/completions`;
const plainStream = (port: number, headers: Record<string, string>) => (events: number, everyMs: number) => ({
  port,
  path: streamPath(events, everyMs),
  headers,
});

const common = { 'Content-Type': 'application/json', Authorization: 'Bearer sk-bench' };

/** Portkey's gateway, the newest that the registry has, installed apart: its streaming needs an older @hono/node-server. */
const PORTKEY = '1.15.2';
const installPortkey = async (dir: string): Promise<string> => {
  const main = join(dir, 'node_modules/@portkey-ai/gateway/build/start-server.js');
  if (existsSync(main)) return main;
  await mkdir(dir, { recursive: true });
  await writeFile(
    join(dir, 'package.json'),
    JSON.stringify({
      private: true,
      dependencies: { '@portkey-ai/gateway': PORTKEY },
      overrides: { '@hono/node-server': '1.13.8' },
    }),
  );
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--silent', '--ignore-scripts'], {
    cwd: dir,
    stdio: 'inherit',
  });
  return main;
};

export interface Field {
  readonly contenders: readonly Contender[];
  stop(): Promise<void>;
}

/**
 * Starts the origins and every contender on free ports.
 *
 * @param cacheDir where peers from the registry are kept
 * @param before another checkout of this repository, whose gateway runs as well
 */
export const startField = async (
  workDir: string,
  cacheDir: string,
  only: ReadonlySet<string>,
  before?: string,
): Promise<Field> => {
  const running: Running[] = [];
  const started = async (process: Promise<Running>): Promise<Running> => {
    running.push(await process);
    return running.at(-1) as Running;
  };
  const [originPort, streamPort] = [await getPort(), await getPort()];
  const here = (file: string): string => join(import.meta.dirname, file);
  await started(startNode([here('stream-process.ts')], { PORT: String(streamPort) }, streamPort, LOAD_CORE));
  await started(
    startNginx(join(workDir, 'origin'), originPort, originServers(originPort, streamPort, RESPONSE, item), LOAD_CORE),
  );
  const ports = { ORIGIN_PORT: String(originPort), STREAM_PORT: String(streamPort) };
  const aws = `http://127.0.0.1:${originPort}`;

  const gateway = async (name: string, folder: string, without: readonly 'events'[] = []): Promise<Contender> => {
    const port = await getPort();
    const env = {
      PORT: String(port),
      TABLE_NAME: 'bench',
      USAGE_QUEUE_URL: `${aws}/queue`,
      GATEWAY_DOMAIN: 'gateway.test',
      FINGERPRINT_SECRET_ID: 'bench',
      OPEN_EVENT_DELAY_SECONDS: '900',
      CONNECT_TIMEOUT_MS: '10000',
      HEADERS_TIMEOUT_MS: '600000',
      IDLE_TIMEOUT_MS: '300000',
      UPSTREAM_ORIGINS: JSON.stringify({ openai: aws, together: `http://127.0.0.1:${streamPort}` }),
      AWS_ENDPOINT_URL: aws,
      AWS_REGION: 'eu-central-1',
      AWS_ACCESS_KEY_ID: 'bench',
      AWS_SECRET_ACCESS_KEY: 'bench',
    };
    const file = await bundled(join(folder, 'gateway-process.ts'), join(workDir, name), { without });
    const process = await started(startNode([file], env, port, PROXY_CORE));
    const headers = { ...common, 'X-Service-Key': KEY, 'X-Service-Tag': 'bench' };
    return { name, port, headers, stream: plainStream(port, headers), process };
  };

  const starters: Record<string, () => Promise<Contender>> = {
    nginx: async () => {
      const port = await getPort();
      const process = await started(
        startNginx(join(workDir, 'proxy'), port, proxyServers(port, originPort, streamPort), PROXY_CORE),
      );
      return { name: 'nginx', port, headers: common, stream: plainStream(port, common), process };
    },
    pipe: async () => {
      const port = await getPort();
      const process = await started(
        startNode(
          [await bundled(here('pipe-process.ts'), workDir)],
          { ...ports, PORT: String(port) },
          port,
          PROXY_CORE,
        ),
      );
      return { name: 'pipe', port, headers: common, stream: plainStream(port, common), process };
    },
    dispatch: async () => {
      const port = await getPort();
      const file = await bundled(here('dispatch-process.ts'), workDir);
      const process = await started(startNode([file], { ...ports, PORT: String(port) }, port, PROXY_CORE));
      return { name: 'dispatch', port, headers: common, stream: plainStream(port, common), process };
    },
    gateway: () => gateway('gateway', import.meta.dirname),
    'without events': () => gateway('without events', import.meta.dirname, ['events']),
    ...(before !== undefined && { before: () => gateway('before', join(before, 'bench/relay')) }),
    portkey: async () => {
      const main = await installPortkey(join(cacheDir, 'portkey'));
      const port = await getPort();
      const process = await started(startNode([main, `--port=${port}`, '--headless'], {}, port, PROXY_CORE));
      const headers = { ...common, 'x-portkey-provider': 'openai', 'x-portkey-custom-host': `${aws}/v1` };
      const stream = (events: number, everyMs: number) => ({
        port,
        path: '/v1/chat/completions',
        headers: {
          ...headers,
          'x-portkey-custom-host': `http://127.0.0.1:${streamPort}/v1/stream/${events}/${everyMs}`,
        },
      });
      return { name: 'portkey', port, headers, stream, process };
    },
  };
  const contenders: Contender[] = [
    { name: 'direct', port: originPort, headers: common, stream: plainStream(streamPort, common) },
  ];
  for (const [name, start] of Object.entries(starters))
    if (only.size === 0 || only.has(name) || name === 'before') contenders.push(await start());
  return {
    contenders,
    stop: async () => {
      for (const process of running.reverse()) await process.stop();
    },
  };
};

import assert from 'node:assert/strict';
import { createServer, request as httpRequest } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { emulatorVariables } from '../../../fixtures/emulator-client.ts';
import { gatewayVariables } from '../../../fixtures/gateway-variables.ts';
import { listen, stopServer, urlOf } from '../../../fixtures/listen.ts';
import { newAccountKey } from '../../../lambda/domain/accounts/issued-secret.ts';
import { type Part, startPart } from '../harness/part.ts';
import type { Scale, Scenario, ScenarioGroup } from '../scenario.ts';

/*
 * Bodies far larger than any memory, through a gateway alone in its process, whose resident memory is watched. Table and queue
 * refuse: what is bounded must be bounded then, too.
 */

interface Context {
  readonly gateway: Part;
  close(): Promise<void>;
}

const BYTES: Record<Scale, number> = { quick: 64 * 2 ** 20, full: 2 ** 30 };
/** Buffers of sockets and streams, and what the collector has not taken yet. */
const MAX_GROWTH_BYTES = 96 * 2 ** 20;
const PIECE = Buffer.alloc(256 * 1024, 'x');
const KEY = newAccountKey((size) => new Uint8Array(size).fill(7));

const mb = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(0)} MB`;

/** Runs something and returns the most memory the gateway held meanwhile. */
const watched = async (gateway: Part, run: () => Promise<void>): Promise<{ before: number; peak: number }> => {
  const before = (await gateway.stats()).rssBytes;
  let peak = before;
  let going = true;
  const watching = (async () => {
    while (going) {
      peak = Math.max(peak, (await gateway.stats()).rssBytes);
      await sleep(100);
    }
  })();
  await run();
  going = false;
  await watching;
  return { before, peak };
};

const write = async (stream: NodeJS.WritableStream, bytes: number): Promise<void> => {
  for (let sent = 0; sent < bytes; sent += PIECE.length)
    if (!stream.write(PIECE)) await new Promise((resolve) => stream.once('drain', resolve));
};

const exchange = (port: number, path: string, upBytes: number): Promise<number> =>
  new Promise((resolve, reject) => {
    const outgoing = httpRequest(
      {
        host: '127.0.0.1',
        port,
        method: 'POST',
        path,
        headers: {
          Host: 'openai.gateway.test',
          'X-Service-Key': KEY,
          Authorization: 'Bearer sk-memory',
          'Content-Type': 'application/octet-stream',
          'Content-Length': upBytes,
        },
      },
      (response) => {
        let taken = 0;
        response.on('data', (chunk: Buffer) => {
          taken += chunk.length;
        });
        response.on('error', reject);
        response.on('end', () => resolve(taken));
      },
    );
    outgoing.on('error', reject);
    void write(outgoing, upBytes).then(() => outgoing.end());
  });

const large = (name: string, path: string, up: boolean): Scenario<Context> => ({
  name,
  run: async ({ gateway }, scale) => {
    const bytes = BYTES[scale];
    let receivedBytes = 0;
    const startedAt = performance.now();
    const { before, peak } = await watched(gateway, async () => {
      receivedBytes = await exchange(gateway.port, `${path}?bytes=${bytes}`, up ? bytes : 0);
    });
    const seconds = (performance.now() - startedAt) / 1_000;
    if (up) assert.equal(receivedBytes, String(bytes).length);
    else assert.equal(receivedBytes, bytes);
    assert.ok(peak - before < MAX_GROWTH_BYTES, `grew from ${mb(before)} to ${mb(peak)}`);
    return `${mb(bytes)} in ${seconds.toFixed(1)} s; resident ${mb(before)}, at most ${mb(peak)}`;
  },
});

const startLargeProvider = async () => {
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://provider');
    if (pathname === '/up') {
      let taken = 0;
      request.on('data', (chunk: Buffer) => {
        taken += chunk.length;
      });
      request.on('end', () => response.end(String(taken)));
      return;
    }
    request.resume();
    const type =
      pathname === '/stream' ? 'text/event-stream' : pathname === '/json' ? 'application/json' : 'audio/mpeg';
    response.writeHead(200, { 'content-type': type });
    if (pathname === '/json') response.write('{"text":"');
    const lead = pathname === '/json' ? 9 : 0;
    void write(response, Number(searchParams.get('bytes')) - lead - (lead > 0 ? PIECE.length : 0)).then(() =>
      response.end(lead > 0 ? PIECE.subarray(lead) : undefined),
    );
  });
  await listen(server);
  return server;
};

export const memoryGroup: ScenarioGroup<Context> = {
  title: 'Bodies larger than memory',
  open: async () => {
    const provider = await startLargeProvider();
    const nowhere = 'http://127.0.0.1:9';
    const gateway = await startPart('gateway', {
      ...emulatorVariables,
      AWS_ENDPOINT_URL: nowhere,
      TABLE_NAME: 'spend',
      USAGE_QUEUE_URL: `${nowhere}/usage`,
      ...gatewayVariables(urlOf(provider), 900),
    });
    return {
      gateway,
      close: async () => {
        await gateway.stop();
        await stopServer(provider);
      },
    };
  },
  close: (context) => context.close(),
  scenarios: [
    large('a response nobody reads into', '/binary', false),
    large('a response of JSON that is one string', '/json', false),
    large('a stream that is one event', '/stream', false),
    large('an upload', '/up', true),
  ],
};

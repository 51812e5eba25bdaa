import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CloseEvent } from '../../../lambda/domain/usage/usage-event.ts';
import { type GatewayHost, type HostSettings, KEYS } from '../../gateway/gateway-host.ts';
import { eventually } from '../eventually.ts';
import { atSomePace } from '../paces.ts';
import { exchangeRaw, statusesOf } from '../raw/raw-client.ts';
import type { RawOrigin } from '../raw/raw-origin.ts';
import type { Scenario } from '../scenario.ts';
import { type Context, firstClose, GET, GOOD, type Moments, STREAM, silent, UPLOAD } from './client-fixture.ts';

/** Where a time-out is what a scenario is about, at its first pace. Elsewhere none strikes, however slow the machine. */
const TIMEOUT_MS = 1_000;

const flood = (socket: Socket): void => {
  socket.write(STREAM);
  const piece = Buffer.alloc(65_536, 'x');
  const push = (): void => {
    while (!socket.destroyed && socket.write(Buffer.concat([Buffer.from('10000\r\n'), piece, Buffer.from('\r\n')])));
  };
  socket.on('drain', push);
  push();
};

interface Parts {
  readonly origin: RawOrigin;
  readonly host: GatewayHost;
  readonly moments: Moments;
  /** A client's connection, which ends with the scenario at the latest. */
  readonly connectClient: () => Socket;
}

const withHost = async (
  { origin, start }: Context,
  settings: Partial<HostSettings>,
  run: (parts: Parts) => Promise<string>,
): Promise<string> => {
  const moments: Moments = { headers: silent, error: silent };
  const host = await start(settings, { headers: () => moments.headers(), error: () => moments.error() });
  const clients: Socket[] = [];
  const connectClient = (): Socket => {
    const client = connect({ port: host.port, host: '127.0.0.1' }).on('error', silent);
    clients.push(client);
    return client;
  };
  try {
    return await run({ origin, host, moments, connectClient });
  } finally {
    for (const client of clients) client.destroy();
    origin.onHead = () => {};
    origin.script = silent;
    origin.dropConnections();
    await host.close();
  }
};

const one = (
  name: string,
  settings: Partial<HostSettings>,
  run: (parts: Parts) => Promise<string>,
): Scenario<Context> => ({ name, run: (context) => withHost(context, settings, run) });

/** One in which `timeout` may strike only where it must. */
const timed = (
  name: string,
  timeout: 'headersTimeoutMs' | 'idleTimeoutMs',
  run: (parts: Parts & { readonly timeoutMs: number }) => Promise<string>,
): Scenario<Context> => ({
  name,
  run: (context) =>
    atSomePace((pace) => {
      const timeoutMs = TIMEOUT_MS * pace;
      return withHost(context, { timeouts: { [timeout]: timeoutMs } }, (parts) => run({ ...parts, timeoutMs }));
    }),
});

/** More than the buffers on the way hold: who does not read it holds its client up. */
const UPLOAD_BYTES = 16 * 2 ** 20;

/** A client that sends its whole body before it looks at the response, and then another request on the same connection. */
const sendsOn = (name: string, status: number, respond: (socket: Socket) => void): Scenario<Context> =>
  one(name, {}, async ({ origin, host }) => {
    origin.onHead = (socket, head) => {
      if (head.startsWith('POST')) respond(socket);
    };
    origin.script = (socket, { head }) => {
      if (head.startsWith('GET')) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnext');
    };
    const upload = `POST /v1/files HTTP/1.1\r\n${GOOD}Content-Length: ${UPLOAD_BYTES}\r\n\r\n`;
    const pieces = [upload, Buffer.alloc(UPLOAD_BYTES), GET];
    const { text } = await exchangeRaw({ port: host.port, pieces, until: (text) => text.endsWith('next') });
    assert.deepEqual(statusesOf(text), [status, 200]);
    return `${status}, then 200`;
  });

const outcomeOf = ({ outcome, status }: CloseEvent): string => `${outcome}, ${status}`;

/** Clients that stay, and stall, push or do not listen. */
export const stayingClients: readonly Scenario<Context>[] = [
  timed('sends its body slowly, for longer than a provider may keep silent', 'headersTimeoutMs', async (parts) => {
    const { origin, host, timeoutMs, connectClient } = parts;
    origin.script = (socket, { body }) =>
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    const head = `POST /v1/files HTTP/1.1\r\n${GOOD}Content-Length: 20\r\n\r\n`;
    const socket = connectClient();
    let received = '';
    socket.on('data', (bytes: Buffer) => {
      received += bytes.toString('latin1');
    });
    for (const piece of [...(head.match(/[\s\S]{1,40}/g) ?? []), ...'abcdefghijklmnopqrst']) {
      socket.write(piece);
      await sleep(timeoutMs / 12);
    }
    await eventually(() => /\r\n\r\n[\s\S]*[t}]$/.test(received), 'the response comes');
    socket.destroy();
    assert.match(received, /^HTTP\/1\.1 200 [\s\S]*\r\nabcdefghijklmnopqrst$/);
    return outcomeOf(await firstClose(host));
  }),
  timed('stops sending in mid-body', 'headersTimeoutMs', async ({ host }) => {
    const { text } = await exchangeRaw({ port: host.port, pieces: [UPLOAD], until: (text) => text.includes('}}') });
    assert.match(text, /^HTTP\/1\.1 502/);
    const close = await firstClose(host);
    assert.equal(close.outcome, 'unreachable');
    return outcomeOf(close);
  }),
  timed('reads nothing: the provider is held back, then let go', 'idleTimeoutMs', async (parts) => {
    const { origin, host, connectClient } = parts;
    let provider: Socket | undefined;
    origin.script = (socket) => {
      provider = socket;
      flood(socket);
    };
    const socket = connectClient();
    socket.pause();
    socket.write(GET);
    const close = await firstClose(host);
    const taken = provider?.bytesWritten ?? 0;
    socket.destroy();
    assert.equal(close.outcome, 'client_aborted');
    assert.ok(taken < 32 * 2 ** 20, `${taken} bytes were taken from the provider`);
    await eventually(() => origin.open() === 0, 'the connection to the provider is closed');
    return `client_aborted; ${(taken / 2 ** 20).toFixed(1)} MB taken`;
  }),
  one('gets a response early, in mid-upload, and the provider resets', {}, async ({ origin, host }) => {
    let provider: Socket | undefined;
    origin.onHead = (socket) => {
      provider = socket;
      socket.write('HTTP/1.1 413 Too Large\r\nContent-Length: 9\r\n\r\ntoo large');
    };
    const pieces = [UPLOAD, ...Array.from({ length: 20 }, () => `4000\r\n${'x'.repeat(0x4000)}\r\n`)];
    const until = (text: string): boolean => {
      const isThere = text.includes('too large');
      // Not before: a reset takes with it what has not been read.
      if (isThere) provider?.resetAndDestroy();
      return isThere;
    };
    const { text } = await exchangeRaw({ port: host.port, pieces, until });
    assert.match(text, /^HTTP\/1\.1 413 Too Large[\s\S]*too large$/);
    const close = await firstClose(host);
    assert.equal(close.status, 413);
    return outcomeOf(close);
  }),
  sendsOn('gets a response early, and sends all the same', 413, (socket) =>
    socket.write('HTTP/1.1 413 Too Large\r\nContent-Length: 9\r\n\r\ntoo large'),
  ),
  sendsOn('gets a response early from a provider that closes, and sends all the same', 413, (socket) => {
    socket.write('HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 9\r\n\r\ntoo large');
    socket.destroySoon();
  }),
  sendsOn('sends all, though the provider has gone', 502, (socket) => socket.resetAndDestroy()),
  one('is refused while it is sending', {}, async ({ host }) => {
    const pieces = [
      UPLOAD.replace(KEYS.active, KEYS.absent),
      ...Array.from({ length: 50 }, () => `4000\r\n${'x'.repeat(0x4000)}\r\n`),
      '0\r\n\r\n',
    ];
    const { text } = await exchangeRaw({ port: host.port, pieces, until: (text) => text.includes('}}') });
    assert.match(text, /^HTTP\/1\.1 401/);
    return '401';
  }),
  one(
    'sees what came, where the response was interrupted while its open event was on its way',
    { send: () => sleep(40) },
    async ({ origin, host, moments }) => {
      origin.script = (socket) => {
        moments.headers = () => socket.resetAndDestroy();
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n');
      };
      const { text, end } = await exchangeRaw({ port: host.port, pieces: [GET] });
      assert.match(text, /^HTTP\/1\.1 200 OK\r\n/);
      assert.notEqual(end, 'open');
      const close = await firstClose(host);
      assert.equal(outcomeOf(close), 'upstream_aborted, 200');
      return outcomeOf(close);
    },
  ),
  one(
    'gets route governed on a 502 whose open event was accepted',
    { origin: 'http://127.0.0.1:1', send: () => sleep(10) },
    async ({ host }) => {
      const { text } = await exchangeRaw({ port: host.port, pieces: [GET], until: (text) => text.includes('}}') });
      assert.match(text, /^HTTP\/1\.1 502[\s\S]*X-Service-Route: governed/);
      const close = await firstClose(host);
      assert.equal(close.route, 'governed');
      return outcomeOf(close);
    },
  ),
];

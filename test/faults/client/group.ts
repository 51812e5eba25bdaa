import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CloseEvent } from '../../../lambda/domain/usage-event.ts';
import type { Lookup } from '../../../lambda/gateway/account-lookup.ts';
import { type GatewayHost, type HostSettings, KEYS, startGatewayHost } from '../../gateway/gateway-host.ts';
import { eventually } from '../eventually.ts';
import { exchangeRaw } from '../raw/raw-client.ts';
import { type RawOrigin, startRawOrigin } from '../raw/raw-origin.ts';
import type { Scenario, ScenarioGroup } from '../scenario.ts';
import { type TransportName, telling, transports } from '../transports.ts';

/** What happens to a gateway's exchange with its provider, to be waited for. */
interface Moments {
  headers: () => void;
  error: () => void;
}

interface Context {
  readonly origin: RawOrigin;
  readonly start: (settings: Partial<HostSettings>, moments?: Partial<Moments>) => Promise<GatewayHost>;
}

/** Where a time-out is what a scenario is about. Elsewhere none strikes, however slow the machine. */
const TIMEOUT_MS = 1_000;
const GOOD = `Host: openai.gateway.test\r\nX-Service-Key: ${KEYS.active}\r\nAuthorization: Bearer sk-client\r\n`;
const GET = `GET /v1/x HTTP/1.1\r\n${GOOD}\r\n`;
const UPLOAD = `POST /v1/files HTTP/1.1\r\n${GOOD}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n`;
/** Gathered before it is forwarded, as its usage may have to be asked for. */
const CHAT = `POST /v1/chat/completions HTTP/1.1\r\n${GOOD}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"stream":true,`;
const STREAM = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n';
const EVENT = '9\r\ndata: 1\n\n\r\n';

/** How a client can go. A half-close is taken for leaving, as servers do that cannot tell the two apart. */
const goings = {
  closes: (socket: Socket) => socket.destroy(),
  resets: (socket: Socket) => socket.resetAndDestroy(),
  'half-closes': (socket: Socket) => socket.end(),
} as const;

const firstClose = async (host: GatewayHost): Promise<CloseEvent> => {
  await eventually(() => host.closes().length > 0, 'the request is settled');
  return host.closes()[0] as CloseEvent;
};

/** What has happened so far. */
interface Facts {
  lookups: number;
  opens: number;
  /** Requests that came to the provider, and answers of which the gateway has the headers. */
  heads: number;
  answers: number;
  received: string;
}

interface Leaving {
  readonly name: string;
  /** What the client has sent by then. */
  readonly sends: string;
  readonly provider: (socket: Socket, head: string) => void;
  /** True once it is time to go. */
  readonly when: (facts: Facts) => boolean;
  /** @param gone resolves once the gateway has seen the client go */
  readonly settings?: (gone: Promise<void>, facts: Facts) => Partial<HostSettings>;
  /** What the record must say of the answer. */
  readonly status: number | null;
  /** The request must not have reached the provider. */
  readonly unsent?: boolean;
}

const silent = (): void => {};
const endless = (socket: Socket): void => {
  socket.write(STREAM);
  const timer = setInterval(() => socket.write(EVENT), 2);
  socket.on('close', () => clearInterval(timer));
};
const flood = (socket: Socket): void => {
  socket.write(STREAM);
  const piece = Buffer.alloc(65_536, 'x');
  const push = (): void => {
    while (!socket.destroyed && socket.write(Buffer.concat([Buffer.from('10000\r\n'), piece, Buffer.from('\r\n')])));
  };
  socket.on('drain', push);
  push();
};
const owner: Lookup = { accountId: KEYS.active, keyId: 'key-1', active: true };

const leavings: readonly Leaving[] = [
  {
    name: 'while its key is being looked up',
    sends: GET,
    provider: endless,
    when: ({ lookups }) => lookups === 1,
    settings: (gone, facts) => ({
      parts: {
        lookUpAccount: async () => {
          facts.lookups++;
          await gone;
          return owner;
        },
      },
    }),
    status: null,
    unsent: true,
  },
  {
    name: 'while its body is being gathered',
    sends: CHAT,
    provider: endless,
    when: ({ opens }) => opens === 1,
    status: null,
    unsent: true,
  },
  { name: 'in mid-upload', sends: UPLOAD, provider: silent, when: ({ heads }) => heads === 1, status: null },
  { name: 'before the headers', sends: GET, provider: silent, when: ({ heads }) => heads === 1, status: null },
  {
    name: 'while the open event is on its way',
    sends: GET,
    provider: endless,
    when: ({ answers }) => answers === 1,
    settings: (gone) => ({ send: () => gone }),
    status: 200,
  },
  {
    name: 'after the headers',
    sends: GET,
    provider: (socket) => socket.write(STREAM),
    when: ({ received }) => received.includes('\r\n\r\n'),
    status: 200,
  },
  {
    name: 'in mid-answer',
    sends: GET,
    provider: endless,
    when: ({ received }) => received.includes('data: 1'),
    status: 200,
  },
];

const leaving = (leave: Leaving, how: keyof typeof goings): Scenario<Context> => ({
  name: `${how} ${leave.name}`,
  run: async ({ origin, start }) => {
    const { promise: gone, resolve: isGone } = Promise.withResolvers<void>();
    const facts: Facts = { lookups: 0, opens: 0, heads: 0, answers: 0, received: '' };
    const host = await start(leave.settings?.(gone, facts) ?? {}, { headers: () => void facts.answers++ });
    try {
      origin.requests.length = 0;
      origin.onHead = (socket, head) => {
        facts.heads++;
        leave.provider(socket, head);
      };
      const socket = connect({ port: host.port, host: '127.0.0.1', allowHalfOpen: true });
      socket.on('error', () => {});
      socket.on('data', (bytes: Buffer) => {
        facts.received += bytes.toString('latin1');
      });
      await new Promise<void>((sent) => socket.write(leave.sends, () => sent()));
      const itIsTime = (): boolean => leave.when({ ...facts, opens: host.opens().length });
      await eventually(itIsTime, 'it comes to that point');
      goings[how](socket);
      await eventually(async () => (await host.connections()) === 0, 'the gateway sees it go');
      isGone();
      const close = await firstClose(host);
      assert.equal(close.outcome, 'client_aborted');
      assert.equal(close.status, leave.status);
      await eventually(() => origin.open() === 0, 'the connection to the provider is closed');
      if (leave.unsent) assert.equal(facts.heads, 0, 'nothing is sent for a client that is gone');
      socket.destroy();
      return 'client_aborted; provider released';
    } finally {
      origin.onHead = () => {};
      await host.close();
    }
  },
});

const one = (
  name: string,
  settings: Partial<HostSettings>,
  run: (parts: {
    readonly origin: RawOrigin;
    readonly host: GatewayHost;
    readonly moments: Moments;
  }) => Promise<string>,
): Scenario<Context> => ({
  name,
  run: async ({ origin, start }) => {
    const moments: Moments = { headers: silent, error: silent };
    const host = await start(settings, { headers: () => moments.headers(), error: () => moments.error() });
    try {
      return await run({ origin, host, moments });
    } finally {
      origin.onHead = () => {};
      origin.script = silent;
      origin.dropConnections();
      await host.close();
    }
  },
});

const outcomeOf = ({ outcome, status }: CloseEvent): string => `${outcome}, ${status}`;

const impatient = { timeouts: { headersTimeoutMs: TIMEOUT_MS } };

const others: readonly Scenario<Context>[] = [
  one('sends its body slowly, for longer than a provider may keep silent', impatient, async ({ origin, host }) => {
    origin.script = (socket, { body }) =>
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    const head = `POST /v1/files HTTP/1.1\r\n${GOOD}Content-Length: 20\r\n\r\n`;
    const socket = connect({ port: host.port, host: '127.0.0.1' });
    let received = '';
    socket.on('data', (bytes: Buffer) => {
      received += bytes.toString('latin1');
    });
    for (const piece of [...(head.match(/[\s\S]{1,40}/g) ?? []), ...'abcdefghijklmnopqrst']) {
      socket.write(piece);
      await sleep(TIMEOUT_MS / 12);
    }
    await eventually(() => received.endsWith('abcdefghijklmnopqrst'), 'the answer comes');
    socket.destroy();
    return outcomeOf(await firstClose(host));
  }),
  one('stops sending in mid-body', impatient, async ({ host }) => {
    const { text } = await exchangeRaw({ port: host.port, pieces: [UPLOAD], until: (text) => text.includes('}}') });
    assert.match(text, /^HTTP\/1\.1 502/);
    const close = await firstClose(host);
    assert.equal(close.outcome, 'unreachable');
    return outcomeOf(close);
  }),
  one(
    'reads nothing: the provider is held back, then let go',
    { timeouts: { idleTimeoutMs: TIMEOUT_MS } },
    async (parts) => {
      const { origin, host } = parts;
      let provider: Socket | undefined;
      origin.script = (socket) => {
        provider = socket;
        flood(socket);
      };
      const socket = connect({ port: host.port, host: '127.0.0.1' });
      socket.on('error', () => {});
      socket.pause();
      socket.write(GET);
      const close = await firstClose(host);
      const taken = provider?.bytesWritten ?? 0;
      socket.destroy();
      assert.equal(close.outcome, 'client_aborted');
      assert.ok(taken < 32 * 2 ** 20, `${taken} bytes were taken from the provider`);
      await eventually(() => origin.open() === 0, 'the connection to the provider is closed');
      return `client_aborted; ${(taken / 2 ** 20).toFixed(1)} MB taken`;
    },
  ),
  one('is answered early, in mid-upload, and the provider resets', {}, async ({ origin, host }) => {
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
    'sees what came, where the answer broke off while its open event was on its way',
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
    'is told governed on a 502 whose open event was accepted',
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

export const clientGroup = (transport: TransportName): ScenarioGroup<Context> => ({
  title: `Clients that leave, stall or push, ${transport}`,
  open: async () => {
    const origin = await startRawOrigin();
    origin.script = silent;
    return {
      origin,
      start: (settings, moments = {}) =>
        startGatewayHost({
          origin: origin.origin,
          transport: telling(transports[transport], moments),
          ...settings,
        }),
    };
  },
  close: ({ origin }) => origin.close(),
  scenarios: [
    ...leavings.flatMap((leave) => Object.keys(goings).map((how) => leaving(leave, how as keyof typeof goings))),
    ...others,
  ],
});

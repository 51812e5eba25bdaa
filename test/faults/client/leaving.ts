import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import type { Lookup } from '../../../lambda/gateway/admission/account-lookup.ts';
import { type HostSettings, KEYS } from '../../gateway/gateway-host.ts';
import { eventually } from '../eventually.ts';
import type { Scenario } from '../scenario.ts';
import { CHAT, type Context, endless, firstClose, GET, STREAM, silent, UPLOAD } from './client-fixture.ts';

/** How a client can go. A half-close is taken for leaving, as servers do that cannot tell the two apart. */
const goings = {
  closes: (socket: Socket) => socket.destroy(),
  resets: (socket: Socket) => socket.resetAndDestroy(),
  'half-closes': (socket: Socket) => socket.end(),
} as const;

/** What has happened so far. */
interface Facts {
  lookups: number;
  opens: number;
  /** Requests that came to the provider, and responses of which the gateway has the headers. */
  heads: number;
  responses: number;
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
  /** What the record must say of the response. */
  readonly status: number | null;
  /** The request must not have reached the provider. */
  readonly unsent?: boolean;
}

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
    when: ({ responses }) => responses === 1,
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
    name: 'in mid-response',
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
    const facts: Facts = { lookups: 0, opens: 0, heads: 0, responses: 0, received: '' };
    const host = await start(leave.settings?.(gone, facts) ?? {}, { headers: () => void facts.responses++ });
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

/** Each way of going, at each point. */
export const leavingClients: readonly Scenario<Context>[] = leavings.flatMap((leave) =>
  Object.keys(goings).map((how) => leaving(leave, how as keyof typeof goings)),
);

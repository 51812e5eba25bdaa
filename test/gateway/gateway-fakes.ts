import type { Readable } from 'node:stream';
import { uuidv7 } from 'uuidv7';
import { type EachLimit, NO_BLOCKS } from '../../lambda/domain/limits/block.ts';
import type { UsageEvent } from '../../lambda/domain/usage/usage-event.ts';
import type { KeyOwner } from '../../lambda/gateway/admission/account-lookup.ts';
import { createGateway, type GatewayParts } from '../../lambda/gateway/gateway.ts';
import type { ClientResponse, GatewayRequest } from '../../lambda/gateway/protocol/client.ts';
import type { UpstreamListener, UpstreamRequest } from '../../lambda/gateway/upstream/upstream.ts';
import { ALL_HOSTS, KEYS } from './gateway-host.ts';

/* The gateway without sockets: a test plays client, provider and queue, and sees every call in its order. */

/** A limit of each key, of nothing. */
export const EACH_KEY: EachLimit = {
  ...{ id: 'each-2', name: 'Keys', each: 'key', scope: {}, period: 'monthly', amountNanoUsd: 0, groups: [] },
  ...{ percent: 100, enforcement: 'lagging', unknownCost: 'pass', onUnavailable: 'pass', showsRemaining: false },
  ...{ notifyAt: [], askUrl: '' },
};

/** What names the account, and the provider's own credential. */
export const CREDENTIALS: readonly string[] = ['X-Service-Key', KEYS.active, 'Authorization', 'Bearer sk-test'];

/** A POST of JSON; a chat by default. */
export const jsonRequest = (body: object | Buffer, headers: readonly string[] = []) => {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body));
  const content = ['Content-Type', 'application/json', 'Content-Length', String(bytes.length)];
  return {
    method: 'POST',
    target: '/v1/chat/completions',
    headers: [...CREDENTIALS, ...content, ...headers],
    body: bytes,
  };
};

/** The owner of every key. */
export const ACTIVE: KeyOwner = { accountId: 'account-1', keyId: 'key-1', active: true };

/** A client's side that records what it gets. */
const recordedClient = (changes: Partial<ClientResponse> = {}) => {
  const calls: unknown[][] = [];
  let onDisconnect = (): void => {};
  const client: ClientResponse = {
    start: (status, message, headers) => void calls.push(['start', status, message, headers]),
    write: (chunk) => {
      calls.push(['write', chunk.toString()]);
      return true;
    },
    onDrain: () => {},
    end: (trailers, last) => void calls.push(['end', trailers, last?.toString()]),
    abort: () => void calls.push(['abort']),
    onDisconnect: (listener) => {
      onDisconnect = listener;
    },
    ...changes,
  };
  return {
    client,
    calls,
    /** The names of the calls. */
    names: () => calls.map(([name]) => name),
    status: () => calls.find(([name]) => name === 'start')?.[1],
    headers: () => calls.find(([name]) => name === 'start')?.[3] as string[],
    /** The code of the gateway's own error that the client got. */
    errorCode: () => JSON.parse(String(calls.find(([name]) => name === 'write')?.[1])).error.code,
    disconnect: () => onDisconnect(),
  };
};

/** Sends one request through a gateway whose provider is the caller. */
export const fakeExchange = (
  request: Partial<Omit<GatewayRequest, 'body'>> & { readonly body?: Readable | Buffer } = {},
  { client: changes = {}, parts = {} }: { client?: Partial<ClientResponse>; parts?: Partial<GatewayParts> } = {},
) => {
  const client = recordedClient(changes);
  const events: UsageEvent[] = [];
  const exchangeCalls: string[] = [];
  const sent: UpstreamRequest[] = [];
  let listener: UpstreamListener | undefined;
  const gateway = createGateway({
    gatewayDomain: 'gateway.test',
    hosts: ALL_HOSTS,
    allowedOrigins: new Set(),
    upstreamOrigins: new Map(),
    lookUpAccount: () => ACTIVE,
    lookUpBlocks: () => NO_BLOCKS,
    lookUpValue: () => 'unavailable',
    loadReserve: () => Promise.reject(new Error('no budget is reserved')),
    fingerprint: () => 'f00d',
    tracker: {
      open: async (event) => {
        events.push(event);
        return true;
      },
      close: async (event) => void events.push(event),
      drain: async () => {},
    },
    upstream: {
      send: (toProvider, watching) => {
        sent.push(toProvider);
        listener = watching;
        return {
          abort: () => void exchangeCalls.push('abort'),
          pause: () => void exchangeCalls.push('pause'),
          resume: () => void exchangeCalls.push('resume'),
        };
      },
      close: () => {},
    },
    afterResponse: (work) => work(),
    newRequestId: uuidv7,
    ...parts,
  });
  const finished = gateway(
    {
      method: 'GET',
      host: 'openai.gateway.test',
      target: '/v1/models',
      headers: CREDENTIALS,
      body: null,
      ...request,
    },
    client.client,
  );
  return {
    ...client,
    events,
    closes: () => events.filter(({ kind }) => kind === 'close'),
    exchangeCalls,
    sent,
    /** What the gateway hears of the provider. Undefined until the request was sent. */
    provider: () => listener as UpstreamListener,
    /** Resolves when the close event is delivered. */
    finished,
  };
};

/** One turn of the event loop, and the ticks that follow it. */
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

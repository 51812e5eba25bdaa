import type { ServerOptions } from 'node:http';
import { uuidv7 } from 'uuidv7';
import { listen, portOf, stopServer } from '../../fixtures/listen.ts';
import { newAccountKey } from '../../lambda/domain/accounts/issued-secret.ts';
import { cloudLabels, hostsByLabel } from '../../lambda/domain/hosts.ts';
import { NO_BLOCKS } from '../../lambda/domain/limits/block.ts';
import type { CloseEvent, OpenEvent, UsageEvent } from '../../lambda/domain/usage/usage-event.ts';
import type { Lookup } from '../../lambda/gateway/admission/account-lookup.ts';
import { createGateway } from '../../lambda/gateway/gateway.ts';
import { serveGateway, serveWebSocket } from '../../lambda/gateway/hosts/gateway-server.ts';
import { gatewayHttpServer } from '../../lambda/gateway/hosts/http-server.ts';
import { createTracker } from '../../lambda/gateway/tracking/tracker.ts';
import type { UpstreamTimeouts } from '../../lambda/gateway/upstream/upstream.ts';
import { undiciUpstream } from '../../lambda/gateway/upstream/upstream-undici.ts';
import type { WebSocketParts } from '../../lambda/gateway/websocket/websocket-relay.ts';

const key = (seed: number): string => newAccountKey((size) => new Uint8Array(size).fill(seed));

export const KEYS = { active: key(1), inactive: key(2), absent: key(3), storeDown: key(4) };

/** The twelve, the clouds, and an own server of either kind. */
export const ALL_HOSTS = hostsByLabel({
  clouds: cloudLabels,
  own: {
    'own-vllm': { origin: 'https://vllm.example.com', compatible: 'openai' },
    'own-claude': { origin: 'http://127.0.0.1:4000', compatible: 'anthropic', internal: true },
  },
});

const lookups: Record<string, Lookup> = {
  [KEYS.active]: { accountId: KEYS.active, keyId: 'key-1', active: true },
  [KEYS.inactive]: { accountId: KEYS.inactive, keyId: 'key-2', active: false },
  [KEYS.absent]: 'no-such-key',
  [KEYS.storeDown]: 'unavailable',
};

/** A gateway on a free port of 127.0.0.1 with every provider's origin replaced, and its events kept. */
export interface GatewayHost {
  readonly port: number;
  readonly events: UsageEvent[];
  opens(): OpenEvent[];
  closes(): CloseEvent[];
  /** Resolves with the close event of one request, by its X-Service-Request-Id; or with the nth close event. */
  closeOf(requestId: string): Promise<CloseEvent>;
  nthClose(count: number): Promise<CloseEvent>;
  /** Connections of clients at the moment. */
  connections(): Promise<number>;
  close(): Promise<void>;
}

export interface HostSettings {
  readonly origin: string;
  readonly timeouts?: Partial<UpstreamTimeouts>;
  /** Replaces the queue: rejects, stalls … */
  readonly send?: (event: UsageEvent) => Promise<void>;
  readonly parts?: Partial<WebSocketParts>;
  readonly server?: ServerOptions;
  /** False as on Lambda. */
  readonly proxiesWebSockets?: boolean;
  /** The transport; the server's by default. */
  readonly transport?: typeof undiciUpstream;
}

/** For SDKs, which choose their own Host header: `/gateway/{label}/…`, as the local stack has it. */
const byPath = (url = '/') => {
  const [, label, target] = /^\/gateway\/([\w-]+)(\/.*)$/.exec(url) ?? [];
  return label && target ? { label, target } : undefined;
};

export const startGatewayHost = async (settings: HostSettings): Promise<GatewayHost> => {
  const events: UsageEvent[] = [];
  const waiting = new Set<() => void>();
  const send = async (event: UsageEvent): Promise<void> => {
    await settings.send?.(event);
    events.push(event);
    for (const check of [...waiting]) check();
  };
  const timeouts = {
    connectTimeoutMs: 10_000,
    headersTimeoutMs: 600_000,
    idleTimeoutMs: 300_000,
    ...settings.timeouts,
  };
  const upstream = (settings.transport ?? undiciUpstream)(timeouts);
  const tracker = createTracker(send, send, { openEventDelaySeconds: 900, retryDelaysMs: [] }, () => {});
  const parts: WebSocketParts = {
    gatewayDomain: 'gateway.test',
    hosts: ALL_HOSTS,
    allowedOrigins: new Set(),
    upstreamOrigins: new Map([...ALL_HOSTS.keys()].map((label) => [label, settings.origin])),
    lookUpAccount: (serviceKey) => lookups[serviceKey] ?? 'no-such-key',
    lookUpBlocks: () => NO_BLOCKS,
    lookUpValue: () => 'unavailable',
    loadReserve: () => Promise.reject(new Error('no budget is reserved')),
    fingerprint: () => 'f00d',
    tracker,
    upstream,
    afterResponse: (work) => work(),
    newRequestId: uuidv7,
    timeouts,
    ...settings.parts,
  };
  const gateway = createGateway(parts);
  const server = gatewayHttpServer(
    (request, response) => serveGateway(gateway, request, response, byPath(request.url)),
    settings.server,
    settings.proxiesWebSockets
      ? (request, socket, head) => void serveWebSocket(parts, request, { socket, head }, byPath(request.url))
      : undefined,
  );
  await listen(server);
  const closes = () => events.filter((event) => event.kind === 'close');
  const closeWhere = (find: () => CloseEvent | undefined): Promise<CloseEvent> =>
    new Promise((resolve) => {
      const check = (): void => {
        const found = find();
        if (!found) return;
        waiting.delete(check);
        resolve(found);
      };
      waiting.add(check);
      check();
    });
  return {
    port: portOf(server),
    events,
    opens: () => events.filter((event) => event.kind === 'open'),
    closes,
    closeOf: (requestId) => closeWhere(() => closes().find((event) => event.requestId === requestId)),
    nthClose: (count) => closeWhere(() => closes()[count - 1]),
    connections: () =>
      new Promise((resolve, reject) => {
        server.getConnections((error, count) => (error ? reject(error) : resolve(count)));
      }),
    close: async () => {
      await stopServer(server);
      await tracker.drain();
      upstream.close();
    },
  };
};

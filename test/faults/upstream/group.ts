import assert from 'node:assert/strict';
import { type Ask, ask, type ReceivedResponse } from '../../../fixtures/exchange.ts';
import { type GatewayHost, type HostSettings, KEYS, startGatewayHost } from '../../gateway/gateway-host.ts';
import { eventually } from '../eventually.ts';
import { atSomePace } from '../paces.ts';
import { type RawOrigin, startRawOrigin } from '../raw/raw-origin.ts';
import type { Scale, Scenario, ScenarioGroup } from '../scenario.ts';
import { type TransportName, transports } from '../transports.ts';
import { type BrokenOrigins, startBrokenOrigins } from './broken-origins.ts';
import { type FaultyResponse, faultyResponses } from './responses.ts';

interface Context {
  readonly origin: RawOrigin;
  readonly brokenOrigins: BrokenOrigins;
  /** A gateway of its own for each scenario: no connection is left over from the one before. */
  readonly start: (timeouts: HostSettings['timeouts']) => Promise<GatewayHost>;
}

/** Where a time-out is what a scenario is about. Elsewhere none strikes, however slow the machine. */
const TIMEOUT_MS = 250;
/** Tests prove that nothing waits for ever; figures come from the full run. */
const SLACK_MS: Record<Scale, number> = { quick: 30_000, full: 1_500 };

const headersFor = (label: string): string[] => [
  'Host',
  `${label}.gateway.test`,
  'X-Service-Key',
  KEYS.active,
  'Authorization',
  'Bearer sk-upstream',
];

const seen = (response: ReceivedResponse) => ({
  status: response.status,
  whole: response.whole,
  body: response.body.toString('latin1'),
});

const askDirectly = (port: number, request: Partial<Ask>) =>
  ask({ ...request, port, headers: ['Host', 'x'] }).then(seen, () => 'no response' as const);

const withGateway = async <T>(
  { start }: Context,
  timeouts: HostSettings['timeouts'],
  run: (host: GatewayHost) => Promise<T>,
): Promise<T> => {
  const host = await start(timeouts);
  try {
    return await run(host);
  } finally {
    await host.close();
  }
};

const faulty = (fault: FaultyResponse): Scenario<Context> => ({
  name: fault.name,
  // Where the machine stands still, what comes after the pause comes with what was before it, which a direct client takes otherwise.
  run: (context) => atSomePace((pace) => getsFaultyResponse(context, fault, pace)),
});

const getsFaultyResponse = (context: Context, fault: FaultyResponse, pace: number): Promise<string> =>
  withGateway(context, fault.endedBy ? { [fault.endedBy]: TIMEOUT_MS * pace } : {}, async (host) => {
    const { origin } = context;
    origin.script = (socket) => fault.response(socket, pace);
    const request = { method: fault.method ?? 'GET', path: '/v1/x' };
    const [direct, response] = await Promise.all([
      fault.asDirect ? askDirectly(origin.port, request) : undefined,
      ask({ ...request, port: host.port, headers: headersFor('openai') }),
    ]);
    const close = await host.nthClose(1);
    const view = seen(response);
    assert.equal(view.status, fault.status);
    assert.equal(view.whole, fault.whole, 'ends as it announced');
    if (fault.body !== undefined) assert.equal(view.body, fault.body);
    if (direct) assert.deepEqual(view, direct, 'a client sees what it would see directly');
    if (fault.status === 502) assert.equal(JSON.parse(view.body).error.code, 'PROVIDER_ERROR');
    assert.equal(close.outcome, fault.outcome);
    assert.equal(close.reading.complete, fault.outcome === 'completed');
    assert.equal(response.headers['x-service-route'], 'governed');
    assert.ok(response.headers['x-service-request-id']);
    await eventually(() => origin.open() <= 1, 'the connection is closed, or idle for the next request');
    origin.dropConnections();
    return `${view.status}${view.whole ? '' : ', interrupted'}; ${close.outcome}`;
  });

const unreachable = (name: string, label: string, connectTimeoutMs?: number): Scenario<Context> => ({
  name,
  run: (context, scale) =>
    withGateway(context, connectTimeoutMs ? { connectTimeoutMs } : {}, async (host) => {
      const startedAt = performance.now();
      const response = await ask({ port: host.port, headers: headersFor(label) });
      const tookMs = performance.now() - startedAt;
      assert.equal(response.status, 502);
      assert.equal(JSON.parse(response.body.toString()).error.code, 'PROVIDER_ERROR');
      assert.equal((await host.nthClose(1)).outcome, 'unreachable');
      assert.ok(tookMs < (connectTimeoutMs ?? 0) + SLACK_MS[scale], `took ${tookMs} ms`);
      assert.doesNotMatch(context.brokenOrigins.leaked(), /sk-upstream/, 'no credential leaves');
      return '502; unreachable';
    }),
});

export const upstreamGroup = (transport: TransportName): ScenarioGroup<Context> => ({
  title: `Provider faults, ${transport}`,
  open: async () => {
    const origin = await startRawOrigin();
    const brokenOrigins = await startBrokenOrigins();
    return {
      origin,
      brokenOrigins,
      start: (timeouts = {}) =>
        startGatewayHost({
          origin: origin.origin,
          transport: transports[transport],
          timeouts,
          parts: { upstreamOrigins: new Map([['openai', origin.origin], ...brokenOrigins.origins]) },
        }),
    };
  },
  close: ({ origin, brokenOrigins }) => Promise.all([origin.close(), brokenOrigins.close()]),
  scenarios: [
    unreachable('refuses the connection', 'anthropic'),
    unreachable('TLS without a reply', 'google', TIMEOUT_MS),
    unreachable('TLS with a reply in plain text', 'mistral'),
    unreachable('TLS without a certificate', 'cohere'),
    unreachable('TLS with a certificate nobody trusts', 'groq'),
    unreachable('a name that does not exist', 'together', TIMEOUT_MS),
    ...faultyResponses.map(faulty),
  ],
});

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, type Ask, ask } from '../../gateway/exchange.ts';
import { type GatewayHost, KEYS, startGatewayHost } from '../../gateway/gateway-host.ts';
import { eventually } from '../eventually.ts';
import { type RawOrigin, startRawOrigin } from '../raw/raw-origin.ts';
import type { Scenario, ScenarioGroup } from '../scenario.ts';
import { type TransportName, transports } from '../transports.ts';
import { type FaultyAnswer, faultyAnswers } from './answers.ts';
import { type BrokenOrigins, startBrokenOrigins } from './broken-origins.ts';

interface Context {
  readonly origin: RawOrigin;
  readonly brokenOrigins: BrokenOrigins;
  readonly host: GatewayHost;
}

/** Long enough for a busy machine to do what is no stall, short enough to wait for what is. */
const TIMEOUT_MS = 250;
const SLACK_MS = 1_500;

const headersFor = (label: string): string[] => [
  'Host',
  `${label}.gateway.test`,
  'X-Service-Key',
  KEYS.active,
  'Authorization',
  'Bearer sk-upstream',
];

const seen = (answer: Answer) => ({ status: answer.status, whole: answer.whole, body: answer.body.toString('latin1') });

/** What a client sees that asks directly, waiting no longer than the gateway would. */
const askDirectly = (port: number, request: Partial<Ask>) =>
  ask({ ...request, port, headers: ['Host', 'x'], idleTimeoutMs: TIMEOUT_MS }).then(seen, () => 'no answer' as const);

const faulty = (fault: FaultyAnswer): Scenario<Context> => ({
  name: fault.name,
  run: async ({ origin, host }) => {
    origin.script = (socket) => fault.answer(socket);
    const request = { method: fault.method ?? 'GET', path: '/v1/x' };
    const count = host.closes().length;
    const [direct, answer] = await Promise.all([
      askDirectly(origin.port, request),
      ask({ ...request, port: host.port, headers: headersFor('openai') }),
    ]);
    const close = await host.nthClose(count + 1);
    const view = seen(answer);
    assert.equal(view.status, fault.status);
    assert.equal(view.whole, fault.whole, 'ends as it announced');
    if (fault.body !== undefined) assert.equal(view.body, fault.body);
    if (fault.asDirect) assert.deepEqual(view, direct, 'a client sees what it would see directly');
    if (fault.status === 502) assert.equal(JSON.parse(view.body).error.code, 'PROVIDER_ERROR');
    assert.equal(close.outcome, fault.outcome);
    assert.equal(close.reading.complete, fault.outcome === 'completed');
    assert.equal(answer.headers['x-service-route'], 'governed');
    assert.ok(answer.headers['x-service-request-id']);
    await eventually(() => origin.open() <= 1, 'the connection is closed, or idle for the next request');
    // The next scenario begins on a connection of its own.
    origin.dropConnections();
    await sleep(2);
    return `${view.status}${view.whole ? '' : ', broken off'}; ${close.outcome}`;
  },
});

const unreachable = (name: string, label: string, withinMs: number): Scenario<Context> => ({
  name,
  run: async ({ host, brokenOrigins }) => {
    const count = host.closes().length;
    const startedAt = performance.now();
    const answer = await ask({ port: host.port, headers: headersFor(label) });
    const tookMs = performance.now() - startedAt;
    assert.equal(answer.status, 502);
    assert.equal(JSON.parse(answer.body.toString()).error.code, 'PROVIDER_ERROR');
    assert.equal((await host.nthClose(count + 1)).outcome, 'unreachable');
    assert.ok(tookMs < withinMs + SLACK_MS, `took ${tookMs} ms`);
    assert.doesNotMatch(brokenOrigins.leaked(), /sk-upstream/, 'no credential leaves');
    return '502; unreachable';
  },
});

export const upstreamGroup = (transport: TransportName): ScenarioGroup<Context> => ({
  title: `Provider faults, ${transport}`,
  open: async () => {
    const origin = await startRawOrigin();
    const brokenOrigins = await startBrokenOrigins();
    const host = await startGatewayHost({
      origin: origin.origin,
      transport: transports[transport],
      timeouts: { connectTimeoutMs: TIMEOUT_MS, headersTimeoutMs: TIMEOUT_MS, idleTimeoutMs: TIMEOUT_MS },
      parts: { upstreamOrigins: new Map([['openai', origin.origin], ...brokenOrigins.origins]) },
    });
    return { origin, brokenOrigins, host };
  },
  close: async ({ origin, brokenOrigins, host }) => {
    await host.close();
    await Promise.all([origin.close(), brokenOrigins.close()]);
  },
  scenarios: [
    unreachable('refuses the connection', 'anthropic', 0),
    unreachable('TLS that is never answered', 'google', TIMEOUT_MS),
    unreachable('TLS answered in plain text', 'mistral', 0),
    unreachable('TLS without a certificate', 'cohere', 0),
    unreachable('TLS with a certificate nobody trusts', 'groq', 0),
    unreachable('a name that does not exist', 'together', TIMEOUT_MS),
    ...faultyAnswers.map(faulty),
  ],
});

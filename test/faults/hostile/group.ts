import assert from 'node:assert/strict';
import { type GatewayHost, startGatewayHost } from '../../gateway/gateway-host.ts';
import { exchangeRaw, statusesOf } from '../raw/raw-client.ts';
import { type RawOrigin, startRawOrigin } from '../raw/raw-origin.ts';
import type { Scenario, ScenarioGroup } from '../scenario.ts';
import { type TransportName, transports } from '../transports.ts';
import { GOOD, type HostileRequest, hostileRequests } from './requests.ts';

interface Context {
  readonly origin: RawOrigin;
  readonly host: GatewayHost;
}

/** A response that says which request it belongs to. */
const echo = (origin: RawOrigin): void => {
  origin.script = (socket, { head }) => {
    const line = head.slice(0, head.indexOf('\r\n'));
    const body = line.startsWith('HEAD ') ? '' : line;
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${line.length}\r\n\r\n${body}`);
  };
};

/** Enough to know that nothing more comes: the echo is over, or an error of ours. */
const hasResponse = (text: string): boolean => /^HTTP\/1\.1 (200[\s\S]*\r\n\r\n[A-Z]+ .* HTTP|4)/.test(text);

const isHead = (pieces: readonly string[]): boolean => pieces[0]?.startsWith('HEAD ') ?? false;

const hostile = ({ name, pieces, result }: HostileRequest): Scenario<Context> => ({
  name,
  run: async ({ origin, host }) => {
    origin.requests.length = 0;
    echo(origin);
    const until = isHead(pieces) ? (text: string) => text.endsWith('\r\n\r\n') : hasResponse;
    const { text } = await exchangeRaw({ port: host.port, pieces, until });
    const statuses = statusesOf(text);
    const lines = origin.requests.map(({ head }) => head.slice(0, head.indexOf('\r\n')));
    if ('refused' in result) {
      assert.deepEqual(lines, [], 'nothing is forwarded');
      if (result.refused.length > 0) assert.ok(result.refused.includes(statuses[0] ?? 0), `responded ${statuses}`);
      else assert.deepEqual(statuses, []);
      return statuses.length > 0 ? `refused, ${statuses[0]}` : 'closed';
    }
    assert.deepEqual(lines, [result.line], 'one request is forwarded, as it came');
    const [{ head, body } = { head: '', body: '' }] = origin.requests;
    assert.deepEqual(
      [...head.matchAll(/^host: *(.*)\r$/gim)].map(([, value]) => value),
      [`127.0.0.1:${origin.port}`],
      'to its provider',
    );
    if (result.body !== undefined) assert.equal(body, result.body);
    if (result.header) assert.match(head, result.header);
    if (result.without) assert.doesNotMatch(head.replace(/^.*\r\n/, ''), result.without);
    assert.equal(statuses[0], 200);
    // The connection to the provider that it used must not hold anything back for whoever comes next.
    const next = await exchangeRaw({
      port: host.port,
      pieces: [`GET /next HTTP/1.1\r\n${GOOD}\r\n`],
      until: hasResponse,
    });
    assert.match(next.text, /GET \/next HTTP\/1\.1$/);
    return 'forwarded as one';
  },
});

export const hostileGroup = (transport: TransportName): ScenarioGroup<Context> => ({
  title: `Hostile requests, ${transport}`,
  open: async () => {
    const origin = await startRawOrigin();
    return { origin, host: await startGatewayHost({ origin: origin.origin, transport: transports[transport] }) };
  },
  close: async ({ origin, host }) => {
    await host.close();
    await origin.close();
  },
  scenarios: hostileRequests.map(hostile),
});

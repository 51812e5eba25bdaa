import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { afterAll, describe, expect, it } from '@jest/globals';
import { type Ask, ask } from '../../../fixtures/exchange.ts';
import { nodeUpstream } from '../../../lambda/gateway/upstream/upstream-node.ts';
import { undiciUpstream } from '../../../lambda/gateway/upstream/upstream-undici.ts';
import { gatewayForTests, writeAsTaken } from '../gateway-for-tests.ts';
import { KEYS } from '../gateway-host.ts';

/*
 * A response that arrives before the queue has accepted the open event waits for the queue. The queue here does not respond, so
 * each response waits for the whole grace period. The client must get it as if it had not waited.
 */

describe.each([
  ['undici', undiciUpstream],
  ['node:http', nodeUpstream],
])('a response that waits for the queue, over %s', (_transport, transport) => {
  const { promise: noResponse, resolve: respond } = Promise.withResolvers<void>();

  afterAll(() => respond());
  const { origin, host } = gatewayForTests({
    transport,
    send: (event) => (event.kind === 'open' ? noResponse : Promise.resolve()),
  });

  const call = async (script: (response: ServerResponse) => void, watch: Partial<Ask> = {}) => {
    origin.script = (_request, response) => script(response);
    const headers = { Host: 'openai.gateway.test', 'X-Service-Key': KEYS.active, Authorization: 'Bearer sk-test' };
    const response = await ask({ ...watch, port: host.port, headers });
    expect(response.headers['x-service-route']).toBe('bypassed');
    return { response, close: await host.closeOf(String(response.headers['x-service-request-id'])) };
  };

  it.each([
    ['nothing', 0],
    ['a few bytes', 5],
    ['more than the hold limit', 3 * 2 ** 20],
  ])('arrives whole: %s', async (_case, bytes) => {
    const body = randomBytes(bytes);
    const { response, close } = await call((response) => response.end(body));
    expect(response.whole).toBe(true);
    expect(response.body.equals(body)).toBe(true);
    expect(close).toMatchObject({ outcome: 'completed', responseBytes: bytes });
  });

  it('is not read whole while it waits', async () => {
    const total = 16 * 2 ** 20;
    let written = { bytes: 0 };
    let writtenBefore = 0;
    const { response } = await call(
      (response) => {
        written = writeAsTaken(response, total);
      },
      {
        onHeaders: () => {
          writtenBefore = written.bytes;
        },
      },
    );
    expect(response.body.length).toBe(total);
    expect(writtenBefore).toBeLessThan(total / 2);
  });
});

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { ask } from '../../fixtures/exchange.ts';
import { type ScriptedOrigin, startScriptedOrigin } from '../../fixtures/scripted-origin.ts';
import type { Tracker } from '../../lambda/gateway/tracking/tracker.ts';
import { type GatewayHost, type HostSettings, KEYS, startGatewayHost } from './gateway-host.ts';

/* Faults of the gateway's own code: each fails one request, is logged without its message, and is recorded if possible. */

let origin: ScriptedOrigin;
let host: GatewayHost | undefined;
const logged: string[] = [];

beforeAll(async () => {
  origin = await startScriptedOrigin();
});
beforeEach(() => {
  logged.length = 0;
  jest.spyOn(console, 'error').mockImplementation((line) => void logged.push(line));
});
afterEach(async () => {
  jest.restoreAllMocks();
  await host?.close();
  host = undefined;
});
afterAll(() => origin.close());

const SECRET = 'sk-in-the-message';
const fault = (): never => {
  throw new TypeError(SECRET);
};

const call = async (parts: HostSettings['parts']) => {
  host = await startGatewayHost({ origin: origin.origin, ...(parts && { parts }) });
  const response = await ask({
    port: host.port,
    headers: { Host: 'openai.gateway.test', 'X-Service-Key': KEYS.active, Authorization: 'Bearer sk-test' },
  });
  return { response, host };
};

const expectLoggedFault = (requestId: unknown): void => {
  expect(logged).toHaveLength(1);
  const line = JSON.parse(logged[0] as string);
  expect(line).toEqual({
    level: 'ERROR',
    message: 'gateway fault',
    requestId,
    errorName: 'TypeError',
    stack: expect.any(Array),
  });
  expect(line.stack.length).toBeGreaterThan(0);
  for (const frame of line.stack) expect(frame).toMatch(/^ {4}at /);
  expect(logged[0]).not.toContain(SECRET);
};

describe('a fault before the request is forwarded', () => {
  it.each<[string, HostSettings['parts']]>([
    ['in the account lookup', { lookUpAccount: fault }],
    ['in an asynchronous account lookup', { lookUpAccount: async () => fault() }],
  ])('%s: 500', async (_case, parts) => {
    const { response } = await call(parts);
    expect(response.status).toBe(500);
    expect(JSON.parse(response.body.toString())).toMatchObject({ error: { code: 'INTERNAL' } });
    expectLoggedFault(response.headers['x-service-request-id']);
  });
});

describe('a fault while the request is relayed', () => {
  it('in the close event: the client has its response, and the fault is logged', async () => {
    origin.script = (_request, response) => response.end('fine');
    const closed = Promise.withResolvers<void>();
    const tracker = {
      open: async () => true,
      close: () => {
        setImmediate(closed.resolve);
        return fault();
      },
      drain: async () => {},
    } as Tracker;
    const { response } = await call({ tracker });
    expect(response.body.toString()).toBe('fine');
    await closed.promise;
    expectLoggedFault(response.headers['x-service-request-id']);
  });
});

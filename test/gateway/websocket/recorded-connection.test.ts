import { once } from 'node:events';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import WebSocket from 'ws';
import { openRequests } from '../../../lambda/data/requests/requests.ts';
import { parseUsageEvent } from '../../../lambda/usage-recorder/parse-event.ts';
import { openRecorder } from '../../../lambda/usage-recorder/recorder.ts';
import { newAccount } from '../../data/new-account.ts';
import { tableForTests } from '../../table-for-tests.ts';
import { type GatewayHost, KEYS, startGatewayHost } from '../gateway-host.ts';
import { type SocketOrigin, startSocketOrigin } from './scripted-socket-origin.ts';

const table = tableForTests();
let origin: SocketOrigin;
let accountId: string;
let host: GatewayHost;

beforeAll(async () => {
  origin = await startSocketOrigin();
  const { accountId: id } = await newAccount(table);
  accountId = id;
  host = await startGatewayHost({
    origin: origin.origin,
    proxiesWebSockets: true,
    parts: { lookUpAccount: () => ({ accountId, keyId: 'key-1', active: true }) },
  });
});
afterAll(async () => {
  await host.close();
  await origin.close();
});

it('is in the ledger once for each response, however often its events arrive', async () => {
  const usage = { input_tokens: 100, output_tokens: 50, total_tokens: 150 };
  origin.onSocket = (socket) => {
    for (const id of ['resp_1', 'resp_2', 'resp_3']) {
      socket.send(JSON.stringify({ type: 'response.created', response: { id } }));
      socket.send(JSON.stringify({ type: 'response.done', response: { id, status: 'completed', usage } }));
    }
    socket.send(JSON.stringify({ type: 'response.created', response: { id: 'resp_4' } }));
    socket.close();
  };
  const socket = new WebSocket(`ws://127.0.0.1:${host.port}/gateway/openai/v1/realtime?model=gpt-realtime`, {
    headers: { 'X-Service-Key': KEYS.active, Authorization: 'Bearer sk-test' },
  });
  const [response] = await once(socket, 'upgrade');
  const connectionId = response.headers['x-service-request-id'] as string;
  await host.closeOf(connectionId);

  const events = host.events.map((event) => parseUsageEvent(JSON.stringify(event)));
  const record = openRecorder(table, { logger: { error: () => {} } });
  await record(events.filter(({ kind }) => kind === 'open'));
  await record([...events].reverse());
  await record(events);

  const requests = openRequests(table);
  const now = Date.now();
  const range = { from: new Date(now - 60_000).toISOString(), to: new Date(now + 60_000).toISOString() };
  const { items } = await requests.page(accountId, { ...range, limit: 10 });
  expect(items.map(({ provenance, costNanoUsd, outcome }) => [provenance, costNanoUsd, outcome]).sort()).toEqual([
    ['computed', 100 * 4_000 + 50 * 16_000, 'completed'],
    ['computed', 100 * 4_000 + 50 * 16_000, 'completed'],
    ['computed', 100 * 4_000 + 50 * 16_000, 'completed'],
    ['free', 0, 'completed'],
    ['unknown', null, 'upstream_aborted'],
  ]);
  for (const { requestId } of items) {
    expect(requestId.slice(19)).toBe(connectionId.slice(19));
    expect(await requests.find(accountId, requestId)).toMatchObject({ requestId, method: 'WEBSOCKET' });
  }
});

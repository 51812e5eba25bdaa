import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
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

/** The records of a connection to OpenAI on which these messages arrive. The events of each record arrive twice. */
const recordsOf = async (path: string, ...messages: readonly object[]) => {
  origin.onSocket = (socket) => {
    for (const message of messages) socket.send(JSON.stringify(message));
    socket.close();
  };
  const socket = new WebSocket(`ws://127.0.0.1:${host.port}/gateway/openai${path}`, {
    headers: { 'X-Service-Key': KEYS.active, Authorization: 'Bearer sk-test' },
  });
  const [response] = await once(socket, 'upgrade');
  const connectionId = response.headers['x-service-request-id'] as string;
  await host.closeOf(connectionId);

  const ofConnection = (requestId: string): boolean => requestId.slice(19) === connectionId.slice(19);
  const events = host.events
    .filter(({ requestId }) => ofConnection(requestId))
    .map((event) => parseUsageEvent(JSON.stringify(event)));
  const record = openRecorder(table, { logger: { error: () => {} } });
  await record(events.filter(({ kind }) => kind === 'open'));
  await record([...events].reverse());
  await record(events);

  const requests = openRequests(table);
  const now = Date.now();
  const range = { from: new Date(now - 60_000).toISOString(), to: new Date(now + 60_000).toISOString() };
  const { items } = await requests.page(accountId, { ...range, limit: 50 });
  const records = items.filter(({ requestId }) => ofConnection(requestId));
  for (const { requestId } of records)
    expect(await requests.find(accountId, requestId)).toMatchObject({ requestId, method: 'WEBSOCKET' });
  return records.map(({ provenance, costNanoUsd, outcome }) => [provenance, costNanoUsd, outcome]).sort();
};

const usage = { input_tokens: 100, output_tokens: 50, total_tokens: 150 };

it('is in the ledger once for each response, however often its events arrive', async () => {
  const events = ['resp_1', 'resp_2', 'resp_3'].flatMap((id) => [
    { type: 'response.created', response: { id } },
    { type: 'response.done', response: { id, status: 'completed', usage } },
  ]);
  const unfinished = { type: 'response.created', response: { id: 'resp_4' } };
  expect(await recordsOf('/v1/realtime?model=gpt-realtime', ...events, unfinished)).toEqual([
    ['computed', 100 * 4_000 + 50 * 16_000, 'completed'],
    ['computed', 100 * 4_000 + 50 * 16_000, 'completed'],
    ['computed', 100 * 4_000 + 50 * 16_000, 'completed'],
    ['free', 0, 'completed'],
    ['unknown', null, 'upstream_aborted'],
  ]);
});

describe('a session of GPT-Live', () => {
  const session = { model: 'gpt-live-1' };
  const started = { type: 'session.started', session };
  const heard = (seconds: number, type = 'session.usage.updated') => ({ type, session, usage: { seconds } });
  const delegated = (type: string, response: object) => ({
    type: 'response.event',
    event: { type, response: { id: 'resp_5', model: 'gpt-5', ...response } },
  });

  it('is charged by the second, at 5 cents a minute, and what it delegates by the token', async () => {
    const records = await recordsOf(
      '/v1/live/sessions',
      started,
      heard(30),
      delegated('response.created', { status: 'in_progress' }),
      delegated('response.completed', { status: 'completed', usage }),
      heard(80),
      heard(90, 'session.closed'),
    );
    expect(records).toEqual([
      ['computed', 100 * 1_250 + 50 * 10_000, 'completed'],
      ['computed', 75_000_000, 'completed'],
      ['free', 0, 'completed'],
    ]);
  });

  it('is charged at least for what it told, if it does not tell that it was closed', async () => {
    expect(await recordsOf('/v1/live/sessions', started, heard(60))).toEqual([
      ['estimated', 50_000_000, 'upstream_aborted'],
      ['free', 0, 'completed'],
    ]);
  });

  it('is not free where it tells no seconds, nor with a decision, whose cost is not known', async () => {
    const decision = { model: 'gpt-6-luna', answers: [], usage };
    const decided = { type: 'decision.event', event: { type: 'decision.completed', decision } };
    expect(await recordsOf('/v1/live/sessions', started, decided)).toEqual([
      ['unknown', null, 'completed'],
      ['unknown', null, 'upstream_aborted'],
    ]);
  });
});

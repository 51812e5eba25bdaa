import { createHmac } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { beforeEach, describe, expect, it } from '@jest/globals';
import protobuf from '@opentelemetry/otlp-transformer/build/src/generated/root.js';
import * as conventions from '@opentelemetry/semantic-conventions/incubating';
import { settingsOf } from '../../fixtures/open-dashboard.ts';
import { sendDestination } from '../../lambda/account-jobs/send-destination.ts';
import * as operations from '../../lambda/dashboard/exports/destination-operations.ts';
import { manageDestinations } from '../../lambda/dashboard/exports/manage-destinations.ts';
import { dueJobs } from '../../lambda/data/accounts/account-jobs.ts';
import { openAuditLog } from '../../lambda/data/accounts/audit-log.ts';
import { openDayExports, requestExport } from '../../lambda/data/exports/day-exports.ts';
import { openDestinations } from '../../lambda/data/exports/destinations.ts';
import { openRequests } from '../../lambda/data/requests/requests.ts';
import { ROLLUP_MARK_SHARDS } from '../../lambda/data/table/keys.ts';
import { write } from '../../lambda/data/table/write.ts';
import { MINUTE_MS } from '../../lambda/domain/calendar/units.ts';
import { routes } from '../../lambda/http/operation.ts';
import { postWebhook, type WebhookAccess, webhookUrlProblem } from '../../lambda/integrations/webhook.ts';
import { openRecorder } from '../../lambda/usage-recorder/recorder.ts';
import { newAccount } from '../data/new-account.ts';
import { invalidAt, invoke, serve, silentLogger } from '../http/invoke.ts';
import { receiverForTests, testCertificate } from '../integrations/test-receiver.ts';
import { tableForTests } from '../table-for-tests.ts';
import { closeEvent, priceOfTokens } from '../usage-recorder/events.ts';

const START = Date.parse('2026-11-20T12:00:00.000Z');
const TRACE = 'a'.repeat(32);
const SPAN = 'b'.repeat(16);

interface Got {
  readonly path: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

const table = tableForTests();
const receiver = receiverForTests();
let got: Got[] = [];
let statusOf = (_: Got): number | Promise<number> => 200;
let nowMs = START;
const now = () => new Date(nowMs);

beforeEach(() => {
  got = [];
  statusOf = () => 200;
  nowMs = START;
  receiver.respond.mockImplementation(async (request, response, body) => {
    const one = { path: request.url, headers: request.headers, body };
    const status = await statusOf(one);
    if (status < 300) got.push(one);
    response.writeHead(status).end();
  });
});

/** The name of the certificate leads to the server of this test. */
const access: WebhookAccess = {
  resolve: async () => ['127.0.0.1'],
  isAllowed: () => true,
  timeoutMs: 60_000,
  options: { ca: testCertificate.cert },
};

/** An account with the API of its destinations, and the job that sends. */
const openAccount = async () => {
  const { accountId, userId, keyId } = await newAccount(table);
  const dependencies = {
    ...settingsOf(table, now),
    webhookUrlProblem: (text: string) => webhookUrlProblem(text, access),
  };
  const handler = serve(routes(operations, manageDestinations(dependencies)));
  const call = (method: string, path: string, body?: unknown) =>
    invoke(handler, { method, path: `/api/destinations${path}`, body, caller: { accountId, userId } });
  const { run: send } = sendDestination({
    destinations: openDestinations(table),
    dayExports: openDayExports(table),
    requests: openRequests(table, () => nowMs),
    post: (target, body, at) => postWebhook(target, body, at, access),
    now,
  });
  const url = `https://hooks.example.com:${receiver.port}`;
  return {
    accountId,
    call,
    create: async (type: string, others: object = {}) => {
      const response = await call('POST', '', { name: 'Warehouse', type, url, ...others });
      expect(response.status).toBe(201);
      return response.body as { readonly id: string; readonly secret: string };
    },
    shown: async () => (await call('GET', '')).body.items[0],
    /** Runs the jobs that are due, as the function does each minute. */
    run: async (minutes: number, isLate = () => false) => {
      nowMs += minutes * MINUTE_MS;
      for (const job of await Array.fromAsync(dueJobs(table, now())))
        if (job.kind === 'destination' && job.accountId === accountId)
          await send(accountId, job.sk.replace('DESTINATION#', ''), isLate);
    },
    record: (events: Parameters<typeof closeEvent>[0][]) =>
      openRecorder(table, { logger: silentLogger(), price: priceOfTokens, now: () => nowMs })(
        events.map((facts) => closeEvent({ accountId, keyId, ...facts })),
      ),
    audited: async () =>
      (await openAuditLog(table).page(accountId, { from: '2', to: '3', limit: 10 })).items.map(({ action }) => action),
  };
};

// biome-ignore lint/suspicious/noExplicitAny: its types know no messages.
const { collector } = (protobuf as any).opentelemetry.proto;
const decoders = {
  '/v1/logs': collector.logs.v1.ExportLogsServiceRequest,
  '/v1/metrics': collector.metrics.v1.ExportMetricsServiceRequest,
};

/** What a receiver decodes of a body, by OpenTelemetry's own schema: all of it, or the test fails. Ids are hex in JSON, not base64. */
// biome-ignore lint/suspicious/noExplicitAny: tests read members without a cast.
const decoded = (path: keyof typeof decoders): any[] =>
  got
    .filter((one) => one.path === path)
    .map(({ body }) => {
      const sent = JSON.parse(body, (name, value) =>
        /^(trace|span)Id$/.test(name) ? Buffer.from(value, 'hex').toString('base64') : value,
      );
      const type = decoders[path];
      const bytes = type.encode(type.fromObject(sent)).finish();
      const read = type.toObject(type.decode(bytes), { longs: String, bytes: String, arrays: false });
      expect(read).toEqual(sent);
      return read;
    });

// biome-ignore lint/suspicious/noExplicitAny: tests read members without a cast.
const valuesOf = (attributes: any[]): Record<string, string> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue]));
const logs = () => decoded('/v1/logs').flatMap(({ resourceLogs }) => resourceLogs[0].scopeLogs[0].logRecords);
const metrics = (name: string) =>
  decoded('/v1/metrics')
    .flatMap(({ resourceMetrics }) => resourceMetrics[0].scopeMetrics[0].metrics)
    .filter((metric) => metric.name === name)
    .flatMap(({ sum, histogram }) => (sum ?? histogram).dataPoints ?? []);

const expectSigned = ({ headers, body }: Pick<Got, 'headers' | 'body'>, secret: string): void => {
  const [, time, signature] = /^t=(\d+),v1=(\w+)$/.exec(String(headers['x-service-signature'])) ?? [];
  expect(signature).toBe(createHmac('sha256', secret).update(`${time}.${body}`).digest('hex'));
};

const at = (minutes: number) => new Date(START + minutes * MINUTE_MS).toISOString();

describe('a destination of the type otlp', () => {
  it('gets each request once as a log record, and its tokens, duration and cost as metrics', async () => {
    const account = await openAccount();
    const { secret } = await account.create('otlp', { headers: { authorization: 'Bearer collector' } });
    await account.record([
      { n: 1, startedAt: at(1), tokens: 1_000, trace: `${TRACE}-${SPAN}`, session: { id: 's1' } },
      { n: 2, startedAt: at(1), tokens: 500, provider: 'mistral', status: 500 },
      { n: 3, startedAt: at(3), tokens: 70 },
      { n: 4, startedAt: at(3), reading: { usage: null, usageSource: 'none' } },
      // The results of a batch, and the same fetched again.
      ...[5, 6].map((n) => ({
        ...{ n, startedAt: at(4), method: 'GET', path: '/v1/messages/batches/b/results' },
        ...{ provider: 'anthropic' as const, reading: { dialect: 'anthropic-batch-output' as const } },
      })),
    ]);
    await account.run(10);
    expect(got).toEqual([]);
    await account.run(30);
    await account.run(30);
    const records = logs();
    expect(records).toHaveLength(6);
    const first = records.find(({ traceId }: { traceId?: string }) => traceId);
    expect(Buffer.from(first.traceId, 'base64').toString('hex')).toBe(TRACE);
    expect(Buffer.from(first.spanId, 'base64').toString('hex')).toBe(SPAN);
    expect(first.eventName).toBe(conventions.EVENT_GEN_AI_CLIENT_INFERENCE_OPERATION_DETAILS);
    expect(valuesOf(first.attributes)).toMatchObject({
      [conventions.ATTR_GEN_AI_OPERATION_NAME]: 'chat',
      [conventions.ATTR_GEN_AI_PROVIDER_NAME]: 'openai',
      [conventions.ATTR_GEN_AI_REQUEST_MODEL]: 'gpt-4o',
      [conventions.ATTR_GEN_AI_RESPONSE_MODEL]: 'gpt-4o-2024-08-06',
      [conventions.ATTR_GEN_AI_CONVERSATION_ID]: 's1',
      'ai_spend.cost_nano_usd': '7000',
      'ai_spend.provenance': 'computed',
    });
    const known: ReadonlySet<unknown> = new Set(Object.values(conventions));
    const failed = records.map(({ attributes }: { attributes: never[] }) => valuesOf(attributes));
    for (const name of failed
      .flatMap((values: object) => Object.keys(values))
      .filter((each: string) => !each.startsWith('ai_spend.')))
      expect([name, known.has(name)]).toEqual([name, true]);
    expect(failed.filter((values: Record<string, string>) => values['error.type'] === '500')).toMatchObject([
      { [conventions.ATTR_GEN_AI_PROVIDER_NAME]: conventions.GEN_AI_PROVIDER_NAME_VALUE_MISTRAL_AI },
    ]);
    const nano = (name: string) => metrics(name).reduce((all, { asInt }) => all + Number(asInt), 0);
    expect(nano('ai_spend.cost')).toBe(1_670 * 7);
    // A sum of nothing known would read as $0.
    expect(metrics('ai_spend.cost').map(({ attributes }) => valuesOf(attributes)['ai_spend.provenance'])).not.toContain(
      'unknown',
    );
    expect(nano('ai_spend.unknown_cost_requests')).toBe(1);
    const durations = metrics(conventions.METRIC_GEN_AI_CLIENT_OPERATION_DURATION);
    expect(durations.reduce((all, { count }) => all + Number(count), 0)).toBe(6);
    const tokens = metrics(conventions.METRIC_GEN_AI_CLIENT_TOKEN_USAGE);
    expect(tokens.reduce((all, { sum }) => all + sum, 0)).toBe(1_670);
    for (const { count, bucketCounts, explicitBounds } of [...durations, ...tokens]) {
      expect(bucketCounts).toHaveLength(explicitBounds.length + 1);
      expect(bucketCounts.reduce((all: number, each: string) => all + Number(each), 0)).toBe(Number(count));
    }
    for (const { headers, body } of got) {
      expect(headers['authorization']).toBe('Bearer collector');
      expectSigned({ headers, body }, secret);
    }
  });

  it('gets the metrics of a minute once, though a receiver refuses some', async () => {
    const account = await openAccount();
    await account.create('otlp');
    await account.record([
      { n: 1, startedAt: at(1), tokens: 1_000 },
      { n: 2, startedAt: at(2), tokens: 500 },
    ]);
    let refusals = 1;
    statusOf = ({ path }) => (path === '/v1/metrics' && refusals-- > 0 ? 503 : 200);
    await account.run(40);
    expect(await account.shown()).toMatchObject({ failures: 1, problem: 'it responded with 503', isActive: true });
    await account.run(1);
    expect(metrics('ai_spend.cost')).toEqual([]);
    await account.run(1);
    expect(metrics('ai_spend.cost').map(({ asInt }) => asInt)).toEqual(['7000', '3500']);
    // The log record of the first went before its metrics.
    expect(logs()).toHaveLength(3);
    expect(
      new Set(logs().map(({ attributes }: { attributes: never[] }) => valuesOf(attributes)['ai_spend.request.id']))
        .size,
    ).toBe(2);
    expect(await account.shown()).toMatchObject({ failures: 0, problem: null, sentAt: now().toISOString() });
    // Failures are in a row only where it takes nothing between them.
    const statuses = [503, 200, 503];
    statusOf = ({ path }) => (path === '/v1/metrics' ? (statuses.shift() ?? 200) : 200);
    await account.record([43, 45].map((minute) => ({ n: minute, startedAt: at(minute), tokens: 1 })));
    await account.run(40);
    await account.run(2);
    expect(statuses).toEqual([]);
    expect(await account.shown()).toMatchObject({ failures: 1, isActive: true });
  });

  it('goes on in the next run where one had no time left', async () => {
    const account = await openAccount();
    await account.create('otlp');
    await account.record([1, 2, 3].map((n) => ({ n, startedAt: at(n), tokens: n })));
    let windows = 0;
    await account.run(40, () => ++windows > 2);
    expect(logs()).toHaveLength(1);
    await account.run(1);
    expect(logs()).toHaveLength(3);
  });

  it('gets nothing that is younger than twenty minutes, by the second', async () => {
    const account = await openAccount();
    await account.create('otlp');
    await account.record([{ n: 1, startedAt: at(1.75), tokens: 1 }]);
    await account.run(21.5);
    expect(logs()).toEqual([]);
    await account.run(1);
    expect(logs()).toHaveLength(1);
  });
});

describe('a destination of the type manifests', () => {
  const exportDay = async (accountId: string, day: string, costNanoUsd: number) => {
    await write(table, requestExport(accountId, day, nowMs));
    const dayExports = openDayExports(table);
    for (let shard = 0; shard < ROLLUP_MARK_SHARDS; shard++)
      for await (const due of dayExports.due(shard))
        if (due.accountId === accountId)
          await dayExports.finish(due, {
            at: now().toISOString(),
            requests: 2,
            costNanoUsd,
            unpricedRequests: 0,
            files: { 'requests/parquet': { rows: 2, bytes: 100, sha256: 'aa' } },
          });
  };
  const manifests = () => got.map(({ body }) => JSON.parse(body));

  it('gets the manifest of each day in order, and again when the day changes', async () => {
    const account = await openAccount();
    await exportDay(account.accountId, '2026-11-18', 10);
    nowMs += MINUTE_MS;
    await exportDay(account.accountId, '2026-11-17', 20);
    await account.create('manifests');
    await account.run(10);
    expect(manifests()).toEqual([
      expect.objectContaining({ day: '2026-11-18', costNanoUsd: 10 }),
      {
        day: '2026-11-17',
        exportedAt: at(1),
        requests: 2,
        costNanoUsd: 20,
        unpricedRequests: 0,
        files: [{ dataset: 'requests', format: 'parquet', rows: 2, bytes: 100, sha256: 'aa' }],
      },
    ]);
    await account.run(1);
    expect(got).toHaveLength(2);
    await exportDay(account.accountId, '2026-11-18', 11);
    await account.run(10);
    expect(manifests().slice(2)).toEqual([expect.objectContaining({ day: '2026-11-18', costNanoUsd: 11 })]);
  });

  it('is switched off after ten failures, and goes on where it was once it is switched on', async () => {
    const account = await openAccount();
    await exportDay(account.accountId, '2026-11-18', 10);
    const { id } = await account.create('manifests');
    statusOf = () => 404;
    for (let round = 1; round <= 12; round++) await account.run(61);
    expect(await account.shown()).toMatchObject({
      failures: 10,
      isActive: false,
      problem: 'it responded with 404',
      sentAt: null,
    });
    statusOf = () => 200;
    await account.run(61);
    expect(got).toEqual([]);
    expect((await account.call('PATCH', `/${id}`, { isActive: true })).body).toMatchObject({
      failures: 0,
      isActive: true,
    });
    await account.run(0);
    expect(manifests()).toEqual([expect.objectContaining({ day: '2026-11-18' })]);
  });

  it('is changed, switched off and deleted, with an entry in the audit log and no secret shown', async () => {
    const account = await openAccount();
    const { id, secret } = await account.create('manifests', { headers: { 'x-api-key': 'credential' } });
    const changed = await account.call('PATCH', `/${id}`, { name: 'Lake', isActive: false });
    expect(changed.body).toMatchObject({ name: 'Lake', isActive: false, headers: ['x-api-key'] });
    expect(JSON.stringify([changed.body, await account.shown()])).not.toMatch(new RegExp(`${secret}|credential`));
    await exportDay(account.accountId, '2026-11-18', 10);
    await account.run(10);
    expect(got).toEqual([]);
    expect((await account.call('PATCH', '/none', { name: 'x' })).status).toBe(404);
    expect((await account.call('DELETE', `/${id}`)).status).toBe(204);
    expect((await account.call('DELETE', `/${id}`)).status).toBe(404);
    expect(await account.audited()).toEqual(['destination.deleted', 'destination.changed', 'destination.created']);
  });

  it('gives the credentials that its receiver asks for to no other host, and signs for that with another secret', async () => {
    const account = await openAccount();
    const { id, secret } = await account.create('manifests', { headers: { 'x-api-key': 'credential' } });
    const move = (body: object) => account.call('PATCH', `/${id}`, body);
    const url = 'https://other.example.com/';
    expect(await move({ url })).toMatchObject(invalidAt('headers', 'must be sent again for another host'));
    expect(await account.shown()).toMatchObject({ url: expect.stringContaining('hooks.example.com') });
    const samePlace = await move({ url: `https://hooks.example.com:${receiver.port}/other` });
    expect([samePlace.status, samePlace.body.secret]).toEqual([200, undefined]);
    expect((await move({ url, headers: {} })).body).toMatchObject({ url, headers: [], secret: expect.any(String) });
    const { status, body } = await move({ url: `https://hooks.example.com:${receiver.port}/` });
    expect([status, body.secret === secret]).toEqual([200, false]);
    await exportDay(account.accountId, '2026-11-18', 10);
    await account.run(10);
    expect(got).toHaveLength(1);
    for (const sent of got) expectSigned(sent, body.secret);
  });

  it('stays off where somebody switches it off while a receiver fails', async () => {
    const account = await openAccount();
    await exportDay(account.accountId, '2026-11-18', 10);
    const { id } = await account.create('manifests');
    statusOf = async () => ((await account.call('PATCH', `/${id}`, { isActive: false })).status === 200 ? 503 : 500);
    await account.run(10);
    expect(await account.shown()).toMatchObject({ problem: 'it responded with 503', isActive: false });
  });

  it('takes no address inside the network, no header of the request itself, and no sixth destination', async () => {
    const account = await openAccount();
    const inside = { ...{ name: 'n', type: 'otlp' }, url: 'http://hooks.example.com/' };
    expect(await account.call('POST', '', inside)).toMatchObject(invalidAt('url'));
    for (const name of ['host', 'content-length', 'x-service-signature', 'Authorization'])
      expect((await account.call('POST', '', { ...inside, headers: { [name]: 'x' } })).status).toBe(400);
    for (let n = 0; n < 5; n++) await account.create('manifests');
    const sixth = await account.call('POST', '', { ...inside, url: 'https://hooks.example.com/' });
    expect(sixth.body.error.code).toBe('LIMIT_REACHED');
  });
});

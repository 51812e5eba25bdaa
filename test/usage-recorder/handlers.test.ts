import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import type { Context, ScheduledEvent, SQSEvent } from 'aws-lambda';
import { emulatorVariables } from '../../fixtures/emulator-client.ts';
import { ruleOf } from '../../fixtures/rule-of.ts';
import { openBlockCopies } from '../../lambda/data/accounts/key-copies.ts';
import { openServiceKeys } from '../../lambda/data/accounts/service-keys.ts';
import { openAlerts } from '../../lambda/data/alerts/alerts.ts';
import { openBlocks } from '../../lambda/data/alerts/blocks.ts';
import { openRules } from '../../lambda/data/alerts/rules.ts';
import { openModelUse, REPRICED_DAYS } from '../../lambda/data/prices/model-use.ts';
import { openPriceDrift } from '../../lambda/data/prices/price-drift.ts';
import { openRequests } from '../../lambda/data/requests/requests.ts';
import { openSpend } from '../../lambda/data/spend/spend.ts';
import { put } from '../../lambda/data/table/actions.ts';
import { MODEL_USE_SHARDS, modelUseKey, outboxKey } from '../../lambda/data/table/keys.ts';
import { findItem } from '../../lambda/data/table/read.ts';
import { shardOf } from '../../lambda/data/table/table.ts';
import { write } from '../../lambda/data/table/write.ts';
import { DAY_MS } from '../../lambda/domain/calendar/units.ts';
import type { EachLimit } from '../../lambda/domain/limits/block.ts';
import type { Limit } from '../../lambda/domain/limits/limit.ts';
import { eachLimitOf } from '../../lambda/domain/limits/limit-blocks.ts';
import { evaluatorOf } from '../../lambda/domain/limits/rule.ts';
import type { CloseEvent } from '../../lambda/domain/usage/usage-event.ts';
import { metricsEnvironment } from '../../lambda/environment.ts';
import { openRecorder } from '../../lambda/usage-recorder/recorder.ts';
import { newAccount } from '../data/new-account.ts';
import { silentLogger } from '../http/invoke.ts';
import { tableForTests } from '../table-for-tests.ts';
import { closeEvent } from './events.ts';

const context = {
  functionName: 'recorder',
  awsRequestId: 'invocation-1',
  getRemainingTimeInMillis: () => 60_000,
} as unknown as Context;

const table = tableForTests();
/** Documents of the embedded metric format, which the handlers write to stdout. */
const written: string[] = [];
/** Messages that functions sent; the dead letters are down. */
const sent: { readonly QueueUrl: string; readonly MessageBody: string }[] = [];
const queue = createServer(async (request, response) => {
  const message = JSON.parse(await text(request));
  if (message.QueueUrl.endsWith('/dead-letters')) return request.destroy();
  sent.push(message);
  return response.end('{}');
});
beforeAll(async () => {
  await once(queue.listen(0, '127.0.0.1'), 'listening');
  Object.assign(process.env, {
    TABLE_NAME: table.name,
    JOB_QUEUE_URL: 'http://127.0.0.1:9/jobs',
    DEAD_LETTER_QUEUE_URL: 'http://127.0.0.1:9/dead-letters',
    AWS_ENDPOINT_URL_SQS: `http://127.0.0.1:${(queue.address() as AddressInfo).port}`,
    POWERTOOLS_METRICS_NAMESPACE: 'AiSpendGateway/test',
    AWS_ENDPOINT_URL_DYNAMODB: table.endpoint,
    ...emulatorVariables,
    POWERTOOLS_LOG_LEVEL: 'SILENT',
  });
  jest.spyOn(process.stdout, 'write').mockImplementation((line) => {
    written.push(String(line));
    return true;
  });
});
afterAll(async () => {
  queue.close();
  jest.restoreAllMocks();
});

const metricsOf = () => {
  const documents = written.splice(0).flatMap((line) => (line.startsWith('{"_aws"') ? [JSON.parse(line)] : []));
  return documents.map(({ _aws, ...values }) => ({ namespace: _aws.CloudWatchMetrics[0].Namespace, ...values }));
};

/** The day before yesterday: soon after midnight, yesterday is not due yet. */
const startedAt = new Date(Date.now() - 2 * DAY_MS).toISOString();
const usage = { prompt_tokens: 1_000, completion_tokens: 10, total_tokens: 1_010 };

/** Writes an event to the outbox, as a gateway does whose queue is down. */
const park = (event: CloseEvent) =>
  write(table, put({ ...outboxKey(0, event.requestId, 'close'), event: JSON.stringify(event), parkedAt: startedAt }));

it('the handlers record events from the queue and the outbox, and roll up the day after', async () => {
  const { handler: record } = await import('../../lambda/usage-recorder/handler.ts');
  const { handler: sweep } = await import('../../lambda/usage-recorder/sweep/handler.ts');
  const { handler: rollUp } = await import('../../lambda/usage-recorder/rollup/handler.ts');
  const { accountId, keyId } = await newAccount(table);
  const event = (n: number, modelServed = 'gpt-4o') =>
    closeEvent({ accountId, keyId, n, startedAt, reading: { usage, modelServed }, overheadMs: 1 });
  const swept = event(2, 'gpt-4o-mini');

  const messages = {
    Records: [
      { messageId: 'm1', body: JSON.stringify(event(1)) },
      { messageId: 'm2', body: 'x' },
    ],
  };
  expect(await record(messages as SQSEvent, context, () => {})).toEqual({
    batchItemFailures: [{ itemIdentifier: 'm2' }],
  });
  expect(await openRequests(table).find(accountId, event(1).requestId)).toMatchObject({ provenance: 'computed' });
  expect(metricsOf()).toMatchObject([
    { namespace: 'AiSpendGateway/test', service: 'gateway', provider: 'openai', Requests: 1, OverheadMs: 1 },
    { namespace: 'AiSpendGateway/test', service: 'usage-recorder', PoisonMessages: 1, RecordedEvents: 1 },
  ]);

  await park(swept);
  await sweep({} as ScheduledEvent, context, () => {});
  expect(await openRequests(table).find(accountId, swept.requestId)).toMatchObject({ provenance: 'computed' });
  // By this a new price finds it.
  const day = startedAt.slice(0, 10);
  const uses = await Array.fromAsync(openModelUse(table).of(day));
  expect(uses).toContainEqual(expect.objectContaining({ accountId, model: 'gpt-4o-mini' }));
  const useKey = modelUseKey(day, shardOf(accountId, MODEL_USE_SHARDS), accountId, 'openai', 'gpt-4o-mini');
  const pricedAgainUntil = (Date.parse(day) + REPRICED_DAYS * DAY_MS) / 1_000;
  expect((await findItem(table, useKey))?.['expiresAt']).toBeGreaterThan(pricedAgainUntil);
  expect(metricsOf()).toMatchObject([
    { namespace: 'AiSpendGateway/test', service: 'gateway', Requests: 1 },
    { namespace: 'AiSpendGateway/test', service: 'usage-sweep', RecordedEvents: 1, SweptEvents: 1 },
  ]);

  await rollUp({} as ScheduledEvent, context, () => {});
  expect(metricsOf()).toMatchObject([
    { namespace: 'AiSpendGateway/test', service: 'usage-rollup', RolledUpPeriods: expect.any(Number) },
  ]);
  const range = { granularity: 'day', from: `${day}T00:00:00.000Z`, to: `${day}T23:59:59.999Z` } as const;
  let requests = 0;
  for await (const { counters } of openSpend(table).read({ accountId, range, groupBy: [] }))
    requests += counters.requests ?? 0;
  expect(requests).toBe(2);
});

it.each(['queue', 'outbox', 'message of a recorder that died'])(
  'a key gets its last use, its model, and the alert of a limit that it has used up, from the %s',
  async (from) => {
    const { handler: record } = await import('../../lambda/usage-recorder/handler.ts');
    const { handler: sweep } = await import('../../lambda/usage-recorder/sweep/handler.ts');
    const { accountId, keyId } = await newAccount(table);
    const rule = ruleOf(accountId, { type: 'budget', config: { each: 'key', amount: 0.000001, period: 'monthly' } });
    await openRules(table).create(rule);
    const { limit } = evaluatorOf(rule.condition);
    const each = eachLimitOf({ ...rule, limit: limit as Limit }, { keys: [], members: [] }, '') as EachLimit;
    await openBlocks(table).change(accountId, (blocks) => ({ ...blocks, each: [each] }));
    const event = closeEvent({ accountId, keyId, startedAt: new Date().toISOString(), reading: { usage } });
    if (from.startsWith('message')) await openRecorder(table, { logger: silentLogger() })([event]);
    if (from !== 'outbox')
      await record({ Records: [{ messageId: 'm1', body: JSON.stringify(event) }] } as SQSEvent, context, () => {});
    else {
      await park(event);
      await sweep({} as ScheduledEvent, context, () => {});
    }
    expect((await openAlerts(table).page(accountId, { limit: 10 })).items).toMatchObject([{ percent: 100 }]);
    expect((await openServiceKeys(table).listWhole(accountId))[0]?.lastUsedAt).toBe(event.startedAt);
    const uses = await Array.fromAsync(openModelUse(table).of(event.startedAt.slice(0, 10)));
    expect(uses.filter((use) => use.accountId === accountId)).toHaveLength(1);
  },
);

it.each([
  ['queue', 'openai/gpt-4o'],
  ['outbox', 'openai/gpt-4o-mini'],
])(
  'an account with blocks is judged, and a reported cost compared, at once after events of the %s',
  async (from, model) => {
    const { handler: record } = await import('../../lambda/usage-recorder/handler.ts');
    const { handler: sweep } = await import('../../lambda/usage-recorder/sweep/handler.ts');
    const { accountId, keyId } = await newAccount(table);
    await openBlockCopies(table).expect(accountId);
    const reading = { usage: { ...usage, cost: 0.01 }, modelServed: model };
    const event = closeEvent({
      accountId,
      keyId,
      startedAt: new Date().toISOString(),
      provider: 'openrouter',
      reading,
    });
    if (from === 'queue')
      await record({ Records: [{ messageId: 'm1', body: JSON.stringify(event) }] } as SQSEvent, context, () => {});
    else {
      await park(event);
      await sweep({} as ScheduledEvent, context, () => {});
    }
    expect(sent.splice(0).map(({ MessageBody }) => JSON.parse(MessageBody))).toMatchObject([
      { accountId, oldest: event.startedAt },
    ]);
    const reported = await Array.fromAsync(openPriceDrift(table).of(event.startedAt.slice(0, 10)));
    expect(reported).toContainEqual(expect.objectContaining({ model, requests: 1, reportedNanoUsd: 1e7 }));
  },
);

it('the environment needs a table name', () => {
  const environment = { TABLE_NAME: 'spend', POWERTOOLS_METRICS_NAMESPACE: 'AiSpendGateway/test' };
  expect(metricsEnvironment.parse(environment)).toEqual(environment);
  expect(() => metricsEnvironment.parse({})).toThrow(/TABLE_NAME/);
  expect(() => metricsEnvironment.parse({ TABLE_NAME: '' })).toThrow(/TABLE_NAME/);
});

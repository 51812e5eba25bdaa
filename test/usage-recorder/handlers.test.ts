import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import type { Context, ScheduledEvent, SQSEvent } from 'aws-lambda';
import { emulatorVariables } from '../../fixtures/emulator-client.ts';
import { openServiceKeys } from '../../lambda/data/accounts/service-keys.ts';
import { openModelUse } from '../../lambda/data/prices/model-use.ts';
import { openRequests } from '../../lambda/data/requests/requests.ts';
import { openSpend } from '../../lambda/data/spend/spend.ts';
import { outboxKey } from '../../lambda/data/table/keys.ts';
import { DAY_MS } from '../../lambda/domain/calendar/units.ts';
import { metricsEnvironment } from '../../lambda/environment.ts';
import { newAccount } from '../data/new-account.ts';
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
beforeAll(async () => {
  Object.assign(process.env, {
    TABLE_NAME: table.name,
    // Never called: the account has no budgets.
    JOB_QUEUE_URL: 'http://127.0.0.1:9/jobs',
    DEAD_LETTER_QUEUE_URL: 'http://127.0.0.1:9/dead-letters',
    AWS_ENDPOINT_URL_SQS: 'http://127.0.0.1:9',
    POWERTOOLS_METRICS_NAMESPACE: 'AiSpendGateway/test',
    AWS_ENDPOINT_URL_DYNAMODB: table.endpoint,
    ...emulatorVariables,
    POWERTOOLS_LOG_LEVEL: 'SILENT',
  });
  jest.spyOn(process.stdout, 'write').mockImplementation((text) => {
    written.push(String(text));
    return true;
  });
});
afterAll(async () => {
  jest.restoreAllMocks();
});

const metricsOf = () => {
  const documents = written.splice(0).flatMap((text) => (text.startsWith('{"_aws"') ? [JSON.parse(text)] : []));
  return documents.map(({ _aws, ...values }) => ({ namespace: _aws.CloudWatchMetrics[0].Namespace, ...values }));
};

/** The day before yesterday: soon after midnight, yesterday is not due yet. */
const startedAt = new Date(Date.now() - 2 * DAY_MS).toISOString();
const usage = { prompt_tokens: 1_000, completion_tokens: 10, total_tokens: 1_010 };

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
  expect((await openServiceKeys(table).listWhole(accountId))[0]?.lastUsedAt).toBe(startedAt);
  expect(metricsOf()).toMatchObject([
    { namespace: 'AiSpendGateway/test', service: 'gateway', provider: 'openai', Requests: 1, OverheadMs: 1 },
    { namespace: 'AiSpendGateway/test', service: 'usage-recorder', PoisonMessages: 1, RecordedEvents: 1 },
  ]);

  await table.call('PutItem', {
    TableName: table.name,
    Item: { ...outboxKey(0, swept.requestId, 'close'), event: JSON.stringify(swept), parkedAt: startedAt },
  });
  await sweep({} as ScheduledEvent, context, () => {});
  expect(await openRequests(table).find(accountId, swept.requestId)).toMatchObject({ provenance: 'computed' });
  // By this a new price finds it.
  const uses = await Array.fromAsync(openModelUse(table).of(startedAt.slice(0, 10)));
  expect(uses).toContainEqual(expect.objectContaining({ accountId, model: 'gpt-4o-mini' }));
  expect(metricsOf()).toMatchObject([
    { namespace: 'AiSpendGateway/test', service: 'gateway', Requests: 1 },
    { namespace: 'AiSpendGateway/test', service: 'usage-sweep', RecordedEvents: 1, SweptEvents: 1 },
  ]);

  await rollUp({} as ScheduledEvent, context, () => {});
  expect(metricsOf()).toMatchObject([
    { namespace: 'AiSpendGateway/test', service: 'usage-rollup', RolledUpPeriods: expect.any(Number) },
  ]);
  const day = startedAt.slice(0, 10);
  const range = { granularity: 'day', from: `${day}T00:00:00.000Z`, to: `${day}T23:59:59.999Z` } as const;
  let requests = 0;
  for await (const { counters } of openSpend(table).read({ accountId, range, groupBy: [] }))
    requests += counters.requests ?? 0;
  expect(requests).toBe(2);
});

it('the environment needs a table name', () => {
  const environment = { TABLE_NAME: 'spend', POWERTOOLS_METRICS_NAMESPACE: 'AiSpendGateway/test' };
  expect(metricsEnvironment.parse(environment)).toEqual(environment);
  expect(() => metricsEnvironment.parse({})).toThrow(/TABLE_NAME/);
  expect(() => metricsEnvironment.parse({ TABLE_NAME: '' })).toThrow(/TABLE_NAME/);
});

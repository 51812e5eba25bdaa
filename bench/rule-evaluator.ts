/**
 * Rules per second and reads per rule of one run of the evaluator, at growing numbers of accounts: it should be linear or better.
 * Each account has two rules (a daily threshold, a monthly one for a tag) and a month of spend of twelve crosses a day. First a run in
 * which nothing fires, as nearly all runs are; then one in which a hundredth of the accounts fire and are mailed.
 *
 * node bench/rule-evaluator.ts [--accounts 1000,10000]
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { BatchWriteCommand, DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { uuidv7 } from 'uuidv7';
import { alertDeliveryRepository } from '../lambda/data/alert-deliveries.ts';
import { alertRepository } from '../lambda/data/alerts.ts';
import { chunk } from '../lambda/data/chunk.ts';
import { ACTIVE_RULE_SHARDS, activeRulesIndexKey, ruleKey, spendCellKey } from '../lambda/data/keys.ts';
import { ruleRepository } from '../lambda/data/rules.ts';
import { serviceKeyRepository } from '../lambda/data/service-keys.ts';
import { shardOf } from '../lambda/data/shard-of.ts';
import { spendReader } from '../lambda/data/spend.ts';
import { summaryItems } from '../lambda/data/summary-pages.ts';
import type { Table } from '../lambda/data/table.ts';
import { markUnsealed } from '../lambda/data/unsealed.ts';
import { forEachConcurrently } from '../lambda/domain/for-each-concurrently.ts';
import { summarize } from '../lambda/domain/spend/summary.ts';
import { deliverAlert } from '../lambda/rule-evaluator/deliver-alert.ts';
import { evaluateAccount } from '../lambda/rule-evaluator/evaluate-account.ts';
import { runEvaluator } from '../lambda/rule-evaluator/run.ts';
import { startDynamoDb } from '../local/emulators/dynamodb.ts';

const { values: options } = parseArgs({ options: { accounts: { type: 'string', default: '1000,10000' } } });
const sizes = options.accounts.split(',').map(Number);

const NOW = new Date('2026-11-20T16:30:00.000Z');
const TODAY = '2026-11-20';
const models = ['gpt-4o', 'gpt-4o-mini', 'o3-mini', 'claude-sonnet-4-5'];
const tags = ['checkout', 'search', null];
const CENT_NANO_USD = 10_000_000;

const crosses = models.flatMap((model) =>
  tags.map((tag) => ({ provider: 'openai', model, tag, keyId: 'key-1', providerKey: 'c0ffee' })),
);
const summary = summarize(
  crosses.map((dimensions) => ({ dimensions, counters: { requests: 10, costComputedNanoUsd: CENT_NANO_USD } })),
);

/** One account: twelve cells of today, nineteen sealed days before, two rules. */
const accountItems = (accountId: string, fires: boolean): Record<string, unknown>[] => {
  const days = Array.from({ length: 19 }, (_, index) => `2026-11-${String(index + 1).padStart(2, '0')}`);
  const rule = (ruleId: string, name: string, config: object) => ({
    ...ruleKey(accountId, ruleId),
    ...activeRulesIndexKey(shardOf(accountId, ACTIVE_RULE_SHARDS), accountId, ruleId),
    ruleId,
    accountId,
    name,
    type: 'cost_threshold',
    config,
    channels: ['email'],
    isActive: true,
    webhook: null,
    createdAt: '2026-11-01T00:00:00.000Z',
    updatedAt: '2026-11-01T00:00:00.000Z',
    effectiveFrom: '2026-11-01T00:00:00.000Z',
    revision: 1,
    firedPeriods: [],
  });
  return [
    ...crosses.map((dimensions) => ({
      ...spendCellKey(accountId, 'DAY', TODAY, dimensions),
      requests: 10,
      costComputedNanoUsd: CENT_NANO_USD,
    })),
    markUnsealed('', accountId, TODAY, NOW.getTime()).Put.Item,
    ...days.flatMap((day) => summaryItems(accountId, 'DAY', day, summary)),
    rule(uuidv7(), 'day', { threshold: fires ? 0.1 : 100, period: 'daily' }),
    rule(uuidv7(), 'month', { threshold: 1000, period: 'monthly', filter: { tag: 'checkout' } }),
  ];
};

const createTable = async (client: DynamoDBClient, name: string): Promise<void> => {
  const attributes = ['pk', 'sk', 'gsi1pk', 'gsi1sk'];
  await client.send(
    new CreateTableCommand({
      TableName: name,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: attributes.map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
      KeySchema: [
        { AttributeName: 'pk', KeyType: 'HASH' },
        { AttributeName: 'sk', KeyType: 'RANGE' },
      ],
      GlobalSecondaryIndexes: [
        {
          IndexName: 'gsi1',
          KeySchema: [
            { AttributeName: 'gsi1pk', KeyType: 'HASH' },
            { AttributeName: 'gsi1sk', KeyType: 'RANGE' },
          ],
          Projection: { ProjectionType: 'ALL' },
        },
      ],
    }),
  );
};

/** @param firing one account in so many fires; 0 for none */
const fill = (table: Table, accounts: number, firing: number): Promise<void> =>
  forEachConcurrently(Array(accounts).keys(), 16, async (index) => {
    const accountId = `svc_${String(index).padStart(30, '0')}`;
    for (const items of chunk(accountItems(accountId, firing > 0 && index % firing === 0), 25)) {
      await table.client.send(
        new BatchWriteCommand({ RequestItems: { [table.name]: items.map((Item) => ({ PutRequest: { Item } })) } }),
      );
    }
  });

const measure = async (accounts: number, firing: number) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'bench-'));
  const emulator = await startDynamoDb({ dataDir });
  const dynamoDb = new DynamoDBClient({
    endpoint: emulator.endpoint,
    region: 'eu-central-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
  try {
    const table: Table = {
      client: DynamoDBDocumentClient.from(dynamoDb, { marshallOptions: { removeUndefinedValues: true } }),
      name: 'bench',
    };
    await createTable(dynamoDb, table.name);
    await fill(table, accounts, firing);
    const calls: Record<string, number> = {};
    table.client.middlewareStack.add(
      (next, context) => (args) => {
        const name = context.commandName ?? '';
        calls[name] = (calls[name] ?? 0) + 1;
        return next(args);
      },
      { step: 'initialize', name: 'countCalls' },
    );
    const alerts = alertRepository(table);
    const deliveries = alertDeliveryRepository(table);
    const rules = ruleRepository(table);
    const mails: unknown[] = [];
    const run = runEvaluator({
      rules,
      deliveries,
      evaluate: evaluateAccount({
        readCells: spendReader(table).cells,
        alerts,
        keys: serviceKeyRepository(table),
        newAlertId: uuidv7,
      }),
      deliver: deliverAlert({
        deliveries,
        rules,
        users: { recipients: async () => [{ userId: 'u', email: 'ada@example.com', firstName: 'Ada' }] },
        sendMail: async (mail) => void mails.push(mail),
        postWebhook: async () => {},
        dashboardUrl: 'https://dashboard.example.com',
        now: () => NOW,
      }),
      now: () => NOW,
      logger: console,
    });
    const cpuBefore = process.cpuUsage();
    const startedMs = performance.now();
    const report = await run();
    const seconds = (performance.now() - startedMs) / 1000;
    const { user, system } = process.cpuUsage(cpuBefore);
    const reads = (calls['QueryCommand'] ?? 0) + (calls['GetCommand'] ?? 0) + (calls['BatchGetCommand'] ?? 0);
    return {
      accounts,
      rules: report.rules,
      alerts: report.alerts,
      mails: mails.length,
      seconds: seconds.toFixed(1),
      'own CPU s': ((user + system) / 1e6).toFixed(1),
      'rules/s': Math.round(report.rules / seconds),
      'reads/rule': (reads / report.rules).toFixed(2),
    };
  } finally {
    dynamoDb.destroy();
    await emulator.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
};

console.log(`node ${process.version}, ${cpus().length} × ${cpus()[0]?.model.trim()}, emulated table`);
const rows = [];
for (const accounts of sizes) {
  for (const firing of [0, 100]) rows.push(await measure(accounts, firing));
}
console.table(rows);

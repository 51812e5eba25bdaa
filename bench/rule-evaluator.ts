/**
 * Rules per second and reads per rule of one run of the evaluator, at growing numbers of accounts: it should be linear or better.
 * Each account has two rules (a daily threshold, a monthly one for a tag) and a month of spend of twelve crosses a day. First a run in
 * which nothing fires, as nearly all runs are; then one in which a hundredth of the accounts fire and are mailed.
 *
 * node bench/rule-evaluator.ts [--accounts 1000,10000]
 */
import { parseArgs } from 'node:util';
import { uuidv7 } from 'uuidv7';
import { markForRollup } from '../lambda/data/ledger/rollup-marks.ts';
import { summaryItems } from '../lambda/data/spend/summary-pages.ts';
import { ACTIVE_RULE_SHARDS, activeRulesIndexKey, ruleKey, spendCounterKey } from '../lambda/data/table/keys.ts';
import { shardOf } from '../lambda/data/table/shard-of.ts';
import { summarize } from '../lambda/domain/spend/summary.ts';
import { openEvaluator } from '../lambda/rule-evaluator/open-evaluator.ts';
import { exportLine, filledTable } from './emulated/filled-table.ts';
import { report, rounded } from './report/figures.ts';

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

const NOBODY = 'svc_nobody';
/** Nineteen rolled-up days. Only the account differs, so they are compressed once. */
const rolledUpDays = Array.from({ length: 19 }, (_, index) => `2026-11-${String(index + 1).padStart(2, '0')}`)
  .flatMap((day) => summaryItems(NOBODY, 'DAY', day, summary, 'bench'))
  .map(exportLine);

/** One account without its rolled-up days: twelve counters of today, two rules. */
const accountItems = (accountId: string, fires: boolean): Record<string, unknown>[] => {
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
      ...spendCounterKey(accountId, 'DAY', TODAY, dimensions),
      requests: 10,
      costComputedNanoUsd: CENT_NANO_USD,
    })),
    markForRollup('', accountId, TODAY, NOW.getTime()).Put.Item,
    rule(uuidv7(), 'day', { threshold: fires ? 0.1 : 100, period: 'daily' }),
    rule(uuidv7(), 'month', { threshold: 1000, period: 'monthly', filter: { tag: 'checkout' } }),
  ];
};

/** @param firing one account in so many fires; 0 for none */
function* lines(accounts: number, firing: number): Generator<string> {
  for (let index = 0; index < accounts; index++) {
    const accountId = `svc_${String(index).padStart(30, '0')}`;
    yield* accountItems(accountId, firing > 0 && index % firing === 0).map(exportLine);
    for (const line of rolledUpDays) yield line.replace(NOBODY, accountId);
  }
}

const reading: ReadonlySet<string> = new Set(['QueryCommand', 'GetCommand', 'BatchGetCommand']);

const measure = async (accounts: number, firing: number) => {
  const table = await filledTable(lines(accounts, firing));
  try {
    let reads = 0;
    let writes = 0;
    table.client.middlewareStack.add(
      (next, { commandName }) =>
        (args) => {
          if (reading.has(commandName ?? '')) reads++;
          else writes++;
          return next(args);
        },
      { step: 'initialize', name: 'countCalls' },
    );
    let mails = 0;
    const run = openEvaluator(table, {
      users: { recipients: async () => [{ userId: 'u', email: 'ada@example.com', firstName: 'Ada' }] },
      sendMail: async () => {
        mails++;
      },
      postWebhook: async () => {},
      dashboardUrl: 'https://dashboard.example.com',
      now: () => NOW,
      logger: console,
    });
    const cpuBefore = process.cpuUsage();
    const startedMs = performance.now();
    const found = await run(() => Number.POSITIVE_INFINITY);
    const seconds = (performance.now() - startedMs) / 1_000;
    const { user, system } = process.cpuUsage(cpuBefore);
    return {
      accounts,
      rules: found.rules,
      alerts: found.alerts,
      mails,
      seconds: rounded(seconds, 1),
      ownCpuSeconds: rounded((user + system) / 1e6, 1),
      rulesPerSecond: Math.round(found.rules / seconds),
      readsPerRule: rounded(reads / found.rules, 2),
      writesPerAlert: found.alerts === 0 ? 0 : rounded(writes / found.alerts, 2),
    };
  } finally {
    await table.stop();
  }
};

// Code is warmed on a small run that is not counted: the first size would pay for it alone.
await measure(200, 100);
const results = [];
for (const accounts of sizes) for (const firing of [0, 100]) results.push(await measure(accounts, firing));
report('rule-evaluator', {}, results);

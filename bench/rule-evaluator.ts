/**
 * Rules per second and reads per rule of one round of the evaluator, at growing numbers of accounts and of workers, which are processes
 * as they are functions on AWS: it should be linear or better.
 * Each account has two rules (a daily threshold, a monthly one for a tag) and a month of spend of twelve crosses a day. First rounds in
 * which nothing fires, as nearly all are; then one in which a hundredth of the accounts fire and are mailed.
 */

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { uuidv7 } from 'uuidv7';
import type { EmulatedTable } from '../fixtures/emulated-table.ts';
import { openEvaluationProgress } from '../lambda/data/alerts/evaluation-progress.ts';
import { markForRollup } from '../lambda/data/ledger/rollup-marks.ts';
import { summaryItems } from '../lambda/data/spend/summary-pages.ts';
import { ACTIVE_RULE_SHARDS, activeRulesIndexKey, ruleKey, spendCounterKey } from '../lambda/data/table/keys.ts';
import { shardOf } from '../lambda/data/table/table.ts';
import { summarize } from '../lambda/domain/spend/summary.ts';
import { jobsFor } from '../lambda/rule-evaluator/start-round.ts';
import { exportLine, filledTable } from './emulated/filled-table.ts';
import { report, rounded } from './report/figures.ts';
import { benchOptions } from './report/options.ts';
import type { Judged } from './rule-evaluator/worker-process.ts';

const { accounts: sizes, workers: workerCounts } = benchOptions('rule-evaluator', {
  accounts: [1_000, 5_000, 10_000],
  workers: [1, 2],
});

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
  .flatMap((day) => summaryItems({ accountId: NOBODY, granularity: 'DAY', period: day, version: 'bench' }, summary))
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
    markForRollup(accountId, TODAY, NOW.getTime()).Put.Item,
    rule(uuidv7(), 'day', { threshold: fires ? 0.1 : 100, period: 'daily' }),
    rule(uuidv7(), 'month', { threshold: 1000, period: 'monthly', filter: { tag: 'checkout' } }),
  ];
};

/** @param firesEach one account in this number fires; 0 for none */
function* lines(accounts: number, firesEach: number): Generator<string> {
  for (let index = 0; index < accounts; index++) {
    const accountId = `svc_${String(index).padStart(30, '0')}`;
    yield* accountItems(accountId, firesEach > 0 && index % firesEach === 0).map(exportLine);
    for (const line of rolledUpDays) yield line.replace(NOBODY, accountId);
  }
}

const startWorkers = (endpoint: string, table: string, count: number): ChildProcess[] =>
  Array.from({ length: count }, () =>
    fork(join(import.meta.dirname, 'rule-evaluator/worker-process.ts'), [endpoint, table, NOW.toISOString()]),
  );

/** Judges jobs one after another, until none is left. */
const work = async (worker: ChildProcess, jobs: unknown[]): Promise<Judged[]> => {
  const judged: Judged[] = [];
  const failed = once(worker, 'exit').then(() => Promise.reject(new Error('A worker failed.')));
  // It ends after its last job, too.
  failed.catch(() => {});
  for (let job = jobs.shift(); job !== undefined; job = jobs.shift()) {
    worker.send(job as object);
    const [result] = await Promise.race([once(worker, 'message'), failed]);
    judged.push(result as Judged);
  }
  return judged;
};

/** A round over one table, by so many workers. */
const round = async (table: EmulatedTable, accounts: number, workerCount: number) => {
  const progress = openEvaluationProgress(table);
  const due = NOW.toISOString();
  const shards = (await progress.read()).map((shard) => ({
    ...shard,
    rules: Math.ceil((2 * accounts) / ACTIVE_RULE_SHARDS),
    due,
  }));
  const jobs: unknown[] = jobsFor(shards, due);
  const jobCount = jobs.length;
  const workers = startWorkers(table.endpoint, table.name, workerCount);
  // Loading and compiling code is no part of a round. A job of another round is read and dropped.
  await Promise.all(workers.map((worker) => work(worker, [{ due, shards: [] }])));
  await progress.save(shards);
  const startedMs = performance.now();
  const judged = (await Promise.all(workers.map((worker) => work(worker, jobs)))).flat();
  const seconds = (performance.now() - startedMs) / 1_000;
  for (const worker of workers) worker.kill();
  const sum = (name: keyof Judged) => judged.reduce((total, each) => total + each[name], 0);
  return {
    accounts,
    rules: sum('rules'),
    workers: workerCount,
    jobs: jobCount,
    alerts: sum('alerts'),
    seconds: rounded(seconds, 1),
    rulesPerSecond: Math.round(sum('rules') / seconds),
    cpuMsPerRule: rounded((1_000 * sum('cpuSeconds')) / sum('rules'), 2),
    readsPerRule: rounded(sum('reads') / sum('rules'), 2),
    writesPerAlert: sum('alerts') === 0 ? 0 : rounded(sum('writes') / sum('alerts'), 2),
  };
};

const results = [];
for (const accounts of sizes) {
  const table = await filledTable(lines(accounts, 0));
  try {
    for (const workerCount of workerCounts) results.push(await round(table, accounts, workerCount));
  } finally {
    await table.stop();
  }
}
const [firingSize = 1_000] = sizes;
const table = await filledTable(lines(firingSize, 100));
try {
  results.push(await round(table, firingSize, 1));
} finally {
  await table.stop();
}
report('rule-evaluator', {}, results);

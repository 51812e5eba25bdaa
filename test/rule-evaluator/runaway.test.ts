import { describe, expect, it } from '@jest/globals';
import { ruleOf } from '../../fixtures/rule-of.ts';
import { openBlocks } from '../../lambda/data/alerts/blocks.ts';
import { openEvaluationProgress } from '../../lambda/data/alerts/evaluation-progress.ts';
import { openMeasures } from '../../lambda/data/alerts/measures.ts';
import { openRules } from '../../lambda/data/alerts/rules.ts';
import { openSessions } from '../../lambda/data/spend/sessions.ts';
import type { Alert } from '../../lambda/domain/alerts/alert.ts';
import type { AccountJob } from '../../lambda/domain/limits/account-job.ts';
import { type Blocks, blocksOf, NO_BLOCKS } from '../../lambda/domain/limits/block.ts';
import { evaluateAccount } from '../../lambda/rule-evaluator/evaluate-account.ts';
import { judgeAccount } from '../../lambda/rule-evaluator/judge-rules.ts';
import { evaluationDependencies } from '../../lambda/rule-evaluator/open-judge.ts';
import { withObservers } from '../../lambda/usage-recorder/observers.ts';
import { openRecorder } from '../../lambda/usage-recorder/recorder.ts';
import { budgetJudging } from '../../lambda/usage-recorder/request-judging.ts';
import { addSpend, costing } from '../data/add-spend.ts';
import { newAccount } from '../data/new-account.ts';
import { silentLogger } from '../http/invoke.ts';
import { tableForTests } from '../table-for-tests.ts';
import { closeEvent, requestIdAt } from '../usage-recorder/events.ts';

/*
 * Replays a runaway: 46 agent runs in one night, each of which caches 800,000 tokens again with each of its nine turns: about $6,000. The
 * recorder, the ledger, the evaluator and the gateway's decision are the real ones; the clock, the queue's delay and the gateway's cache
 * are simulated.
 */
const START = Date.parse('2026-11-20T22:00:00.000Z');
const RUNS = 46;
const TURNS = 9;
const RUN_EVERY_MS = 13 * 60_000;
const TURN_EVERY_MS = 60_000;
/** From the request to the recorder: the response, and the queue until a batch is full. */
const RECORDED_AFTER_MS = 22_000;
/** The gateway's cache of blocks. */
const BLOCKS_KNOWN_FOR_MS = 5_000;

const table = tableForTests();

const turns = Array.from({ length: RUNS * TURNS }, (_, n) => {
  const run = Math.floor(n / TURNS);
  return { n, run, at: START + run * RUN_EVERY_MS + (n % TURNS) * TURN_EVERY_MS };
}).sort((a, b) => a.at - b.at);

/** @param runs the first of the night, where the whole of it shows nothing more */
const replay = async (config: object, runs = RUNS) => {
  const account = await newAccount(table);
  const { accountId, keyId } = account;
  // Two weeks of work by day, up to $30 an hour.
  for (let day = 1; day <= 14; day++)
    for (const hour of [9, 10, 11, 14, 15, 16]) {
      const at = new Date(START - day * 86_400_000);
      at.setUTCHours(hour);
      await addSpend(table, accountId, at.toISOString(), costing(10 + ((hour * 7 + day * 3) % 20)), { keyId });
    }
  let clock = START;
  const now = () => new Date(clock);
  const rules = openRules(table);
  const createdAt = new Date(START - 86_400_000).toISOString();
  await rules.create(ruleOf(accountId, { name: 'Brake', type: 'burn_rate', config, createdAt }));
  const delivered: { alert: Alert; at: number }[] = [];
  const judge = judgeAccount({
    rules,
    measures: openMeasures(table),
    progress: openEvaluationProgress(table),
    evaluate: evaluateAccount({
      ...evaluationDependencies(table),
      readSessions: openSessions(table, () => clock).read,
    }),
    deliver: async (alert) => void delivered.push({ alert, at: clock }),
    now,
    logger: silentLogger(),
  });
  const jobs: { job: AccountJob; due: number }[] = [];
  const judging = budgetJudging({
    accountTerms: { find: async () => ({ hasBlocks: true }) },
    send: async (job, delaySeconds = 0) => void jobs.push({ job, due: clock + delaySeconds * 1_000 }),
    now: () => clock,
  });
  const recorder = withObservers(
    openRecorder(table, { logger: silentLogger(), now: () => clock }),
    [judging],
    silentLogger(),
  );

  let known: { blocks: Blocks; at: number } = { blocks: NO_BLOCKS, at: 0 };
  const isRefused = async (sessionId: string): Promise<boolean> => {
    if (clock - known.at > BLOCKS_KNOWN_FOR_MS) known = { blocks: await openBlocks(table).read(accountId), at: clock };
    const request = { provider: 'anthropic', keyId, tag: null, session: { id: sessionId } } as const;
    return blocksOf(known.blocks, request, now()).length > 0;
  };
  const recordTurn = async ({ n, run, at }: (typeof turns)[number]): Promise<number> => {
    const startedAt = new Date(at).toISOString();
    const usage = { input_tokens: 12, cache_creation_input_tokens: 800_000, output_tokens: 700 };
    const [result] = await recorder([
      {
        ...closeEvent({ accountId, keyId, n, startedAt, provider: 'anthropic', path: '/v1/messages' }),
        requestId: requestIdAt(startedAt, n),
        session: { id: `run-${run}` },
        reading: {
          ...closeEvent().reading,
          ...{ dialect: 'anthropic-messages', usage, modelRequested: 'claude-opus-4-1' },
          modelServed: 'claude-opus-4-1-20250805',
        },
      },
    ]);
    if (result?.kind !== 'recorded' || result.record.costNanoUsd === null) throw new Error(JSON.stringify(result));
    return result.record.costNanoUsd / 1e9;
  };

  let [spentUsd, refused] = [0, 0];
  for (const turn of turns.filter(({ run }) => run < runs)) {
    clock = turn.at;
    if (await isRefused(`run-${turn.run}`)) {
      refused += 1;
      continue;
    }
    clock = turn.at + RECORDED_AFTER_MS;
    spentUsd += await recordTurn(turn);
    for (const { job, due } of jobs.splice(0)) {
      clock = Math.max(clock, due) + 1;
      await judge(job);
    }
  }
  return { delivered, spentUsd, refused, keyId };
};

describe('a runaway at night', () => {
  it('costs less than a tenth with a pause, and the alert comes before a minute of the third run is over', async () => {
    const { delivered, spentUsd, refused, keyId } = await replay({ each: 'key', factor: 3, pause: {} });
    const [first] = delivered;
    expect(first?.alert).toMatchObject({ type: 'burn_rate', of: { dimension: 'key', value: keyId } });
    expect(first?.alert.summary).toContain('It is paused until');
    const thirdRun = START + 2 * RUN_EVERY_MS;
    expect(first?.at).toBeLessThan(thirdRun + 60_000);
    // It leaves within a minute of the request that reached the limit.
    const before = turns.filter(({ at }) => at <= (first?.at as number)).at(-1)?.at as number;
    expect((first?.at as number) - before).toBeLessThan(60_000);
    const perTurnUsd = spentUsd / (RUNS * TURNS - refused);
    const lossUsd = perTurnUsd * RUNS * TURNS;
    expect(lossUsd).toBeGreaterThan(6_000);
    expect(spentUsd).toBeLessThan(lossUsd / 10);
  });

  it('goes on without a pause, with one alert an hour', async () => {
    const { delivered, refused } = await replay({ each: 'key', factor: 3 }, 24);
    expect(refused).toBe(0);
    const hours = delivered.map(({ alert }) => alert.period.start);
    expect(new Set(hours).size).toBe(hours.length);
    expect(hours.length).toBeGreaterThan(4);
  });

  it('is stopped session by session, if the rule says so', async () => {
    const runs = 20;
    const { delivered, refused } = await replay({ each: 'session', limit: 60, pause: {} }, runs);
    expect(delivered.map(({ alert }) => alert.of?.value)).toEqual(
      Array.from({ length: runs }, (_, run) => `run-${run}`),
    );
    // Four turns reach the limit, five are refused. One run passes midnight, and its session begins a new day with three turns of the old.
    expect(refused).toBe(runs * 5 - 3);
  });
});

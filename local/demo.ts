import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { readOptions } from '../ops/command.ts';
import { callApi, register } from './call-api.ts';
import { type DemoCall, demoCalls } from './demo/calls.ts';
import { demoClients, type MakeCall, sendTraffic } from './demo/clients.ts';
import { differences, expectedGroups, total } from './demo/expectation.ts';
import { dollars, finishedSpend, groupsOf, spendTable } from './demo/spend.ts';
import { startStack } from './host/stack.ts';
import { startMockProviders } from './mock/providers.ts';
import { onStopSignal, reportFailure } from './run-until-signal.ts';
import { currentAssembly } from './synth.ts';

const USAGE = `npm run demo

Starts the whole stack with mock providers, sends traffic through the OpenAI, Anthropic and Google SDKs, prints its spend, and lets
a loop run against a budget until the gateway refuses it. It needs nothing else, and leaves nothing behind.`;
readOptions({ usage: USAGE, schema: z.object({}) });

const TAG = 'loop';
const AMOUNT_USD = 0.1;

/** Creates a budget for the tag of the loop. Before the first request of a key, so that the gateway knows of it at once. */
const createLoopBudget = (url: string, token: string): Promise<unknown> =>
  callApi(`${url}/api/budgets`, z.unknown(), token, {
    name: 'Loop',
    amount: AMOUNT_USD,
    period: 'daily',
    each: 'key',
    filter: { tag: TAG },
    // What a request may cost is reserved before it is forwarded.
    block: { enforcement: 'reserved' },
  });

/** About $0.01. */
const call: DemoCall = {
  ...{ method: 'openai-chat', provider: 'openai', model: 'gpt-4.1', tag: TAG, stream: false },
  ...{ inputTokens: 4_000, outputTokens: 250 },
};
const MAX_CALLS = 120;
const PAUSE_MS = 250;

/**
 * An agent that never stops: makes the same call again and again.
 *
 * @returns how many calls passed until one was refused, and the refusal; null where all passed
 */
const runLoop = async (
  makeCall: MakeCall,
  interruption: AbortSignal,
): Promise<{ readonly passed: number; readonly refusal: string | null }> => {
  for (let passed = 0; passed < MAX_CALLS; passed++) {
    try {
      await makeCall(call);
    } catch (error) {
      if ((error as { status?: number }).status !== 429) throw error;
      return { passed, refusal: (error as Error).message };
    }
    await delay(PAUSE_MS, undefined, { signal: interruption });
  }
  return { passed: MAX_CALLS, refusal: null };
};

const ROOT = join(import.meta.dirname, '..');
const CHUNK_DELAY_MS = 20;

/** Since the process began. */
const seconds = () => `${(performance.now() / 1000).toFixed(1)} s`;
/** Says what begins, and when. */
const say = (step: string): void => console.log(`${seconds().padStart(6)}  ${step}`);
const interruption = new AbortController();
const undo: (() => Promise<unknown>)[] = [];
const cleanUp = async () => {
  for (const step of undo.splice(0).reverse()) await step();
};

const showProgress = (made: number): void => {
  const { length } = demoCalls;
  const bar = '█'.repeat(Math.round((made / length) * 30)).padEnd(30, '░');
  if (process.stdout.isTTY) process.stdout.write(`\r  ${bar} ${made}/${length}${made === length ? '\n' : ''}`);
  else if (made % 10 === 0 || made === length) console.log(`  ${made}/${length}`);
};

/** @returns the line of totals, and what was found wrong */
const demo = async (): Promise<{ readonly summary: string; readonly faults: readonly string[] }> => {
  const assembly = await currentAssembly(ROOT, () => say('Synthesizing the CDK app …'), interruption.signal);
  const dataDir = await mkdtemp(join(tmpdir(), 'ai-spend-demo-'));
  undo.push(() => rm(dataDir, { recursive: true, force: true }));
  say('Starting the stack and 12 mock providers …');
  const providers = await startMockProviders({ chunkDelayMs: CHUNK_DELAY_MS });
  undo.push(providers.stop);
  const stack = await startStack({
    assembly,
    dataDir,
    port: 0,
    environment: providers.environment,
  });
  undo.push(stack.stop);

  const { accountId, token } = await register(stack.url);
  say(`Registered an account: ${accountId.slice(0, 8)}…`);
  await createLoopBudget(stack.url, token);
  const makeCall = demoClients(stack.url, accountId);
  say(`Sending ${demoCalls.length} calls with the openai, @anthropic-ai/sdk and @google/genai clients …`);
  const faults = await sendTraffic(demoCalls, makeCall, showProgress, interruption.signal);

  say('Waiting for the usage queue to be worked off …');
  const spend = await finishedSpend(stack.url, token, demoCalls.length, interruption.signal);
  const groups = groupsOf(spend);
  for (const by of ['provider', 'model', 'tag'] as const) console.log(`\n${spendTable(groups, by)}`);

  const { totals } = spend;
  const { freeRequests, errors, costNanoUsd, unpricedRequests } = total(groups);
  faults.push(...differences(expectedGroups(demoCalls), groups));
  if (totals.requests !== demoCalls.length)
    faults.push(`${totals.requests} of ${demoCalls.length} calls were recorded`);
  if (totals.costNanoUsd !== costNanoUsd) faults.push('the total is not the sum of its groups');
  // On a busy machine the queue may respond too late for a call to be governed; the call is still counted.
  if (totals.bypassedRequests > 0)
    console.log(`\n  ${totals.bypassedRequests} calls were forwarded before tracking was confirmed (bypassed).`);
  console.log();
  say('Running a loop against a limit of $0.10 for each key …');
  const { passed, refusal } = await runLoop(makeCall, interruption.signal);
  const all = await finishedSpend(stack.url, token, demoCalls.length + passed, interruption.signal);
  const loopNanoUsd = total(groupsOf(all).filter(({ tag }) => tag === TAG)).costNanoUsd;
  say(`Stopped after ${passed} calls and ${dollars(loopNanoUsd)}, as another may cost more than is left: ${refusal}`);
  if (refusal === null || loopNanoUsd === 0) faults.push('the limit did not stop the loop');
  if (loopNanoUsd > AMOUNT_USD * 1e9) faults.push('the loop cost more than its limit');
  return {
    faults,
    summary: `${totals.requests} calls to ${new Set(groups.map(({ provider }) => provider)).size} providers: ${dollars(costNanoUsd)} known, ${unpricedRequests} of unknown cost, ${errors} refused, ${freeRequests - errors} free`,
  };
};

onStopSignal(() => {
  interruption.abort();
  console.log('\nStopping …');
  void cleanUp().finally(() => process.exit(130));
});

try {
  const { summary, faults } = await demo();
  await cleanUp();
  if (faults.length > 0) {
    console.log(`\nWhat was recorded differs from what was sent:\n${faults.map((fault) => `  ${fault}`).join('\n')}`);
    process.exitCode = 1;
  } else {
    console.log('\nEvery group agrees with what was sent, to the nano-dollar.');
  }
  console.log(`${summary}; ${seconds()}.`);
} catch (error) {
  // A call that a signal interrupted is no failure.
  if (!interruption.signal.aborted) {
    reportFailure(error);
    await cleanUp();
    process.exitCode = 1;
  }
}

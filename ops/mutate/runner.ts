import { readFileSync, writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { resolve } from 'node:path';
import { PluginKind } from '@stryker-mutator/api/plugin';
import {
  DryRunStatus,
  type MutantRunResult,
  MutantRunStatus,
  type TestResult,
  type TestRunner,
  TestStatus,
} from '@stryker-mutator/api/test-runner';
import { type Failure, fileOf, loadTestFile, NoEnd, runTestFile, type Test } from './test-files.ts';

/*
 * Runs our tests for Stryker without Jest around them: Node loads the test files once, and a mutant's tests run in this very process
 * until one fails. Stryker's runner for Jest loads the files anew for each mutant, and runs all its tests.
 *
 * What a test leaves behind is there for the next mutant. So a test that failed runs again without the mutant; where it fails then too,
 * the process ends, and Stryker tries the mutant in a new one.
 */

/** Of each test in the dry run: left in the sandbox, where all workers run. */
const DURATIONS = 'durations.json';
const DRY_RUN_LIMIT_MS = 300_000;
/** How often a mutated place may be passed, as a multiple of the dry run's. Stryker's own limit is 100 times as often. */
const HIT_FACTOR = 5;
/** Stryker's code looks for a mutant in the environment as long as none is set. */
const NO_MUTANT = 'none';

const substitutes: Record<string, string> = {
  '@jest/globals': new URL('../../test/runner/jest-globals.ts', import.meta.url).href,
  'fast-check': new URL('few-examples.ts', import.meta.url).href,
};

registerHooks({
  resolve: (specifier, context, next) => {
    const url = substitutes[specifier];
    return url ? { url, shortCircuit: true } : next(specifier, context);
  },
});

// A run that was stopped leaves no worker behind.
process.once('disconnect', () => process.exit());

/** What mutated code looks at. */
const shared: {
  activeMutant?: string;
  currentTestId?: string | undefined;
  hitCount?: number | undefined;
  hitLimit?: number | undefined;
  mutantCoverage?: never;
} = {};
Object.assign(globalThis, { __stryker__: shared });

const textOf = (error: unknown): string => (error instanceof Error ? (error.stack ?? error.message) : String(error));

const dryRun: TestRunner['dryRun'] = async () => {
  const files: string[] = JSON.parse(process.env['MUTATE_TESTS']!);
  const tests: TestResult[] = [];
  const durations: Record<string, number> = {};
  for (const file of files) await loadTestFile(file);
  for (const file of files) {
    await runTestFile(await loadTestFile(file), {
      chosen: undefined,
      limitMs: () => DRY_RUN_LIMIT_MS,
      started: ({ id }) => {
        shared.currentTestId = id;
      },
      ended: ({ file, ...test }, ms, failure) => {
        shared.currentTestId = undefined;
        durations[test.id] = ms;
        const result = { ...test, fileName: resolve(file), timeSpentMs: ms };
        tests.push(
          failure
            ? { ...result, status: TestStatus.Failed, failureMessage: textOf(failure.error) }
            : { ...result, status: TestStatus.Success },
        );
        return true;
      },
    });
  }
  writeFileSync(DURATIONS, JSON.stringify(durations));
  return { status: DryRunStatus.Complete, tests, mutantCoverage: shared.mutantCoverage! };
};

let known: Record<string, number> | undefined;
const knownDurations = (): Record<string, number> => {
  known ??= JSON.parse(readFileSync(DURATIONS, 'utf8')) as Record<string, number>;
  return known;
};

/** The chosen tests' files, the one that takes least first. */
const filesInOrder = (chosen: ReadonlySet<string>): string[] => {
  const totals = new Map<string, number>();
  for (const id of chosen) totals.set(fileOf(id), (totals.get(fileOf(id)) ?? 0) + (knownDurations()[id] ?? 0));
  return [...totals].sort(([, one], [, other]) => one - other).map(([file]) => file);
};

/** Runs the chosen tests until one fails. */
const runTests = async (chosen: ReadonlySet<string>): Promise<{ failure: Failure | undefined; nrOfTests: number }> => {
  let failure: Failure | undefined;
  let nrOfTests = 0;
  for (const file of filesInOrder(chosen)) {
    try {
      await runTestFile(await loadTestFile(file), {
        chosen,
        limitMs: ({ id }) => 3000 + 4 * (knownDurations()[id] ?? 0),
        started: () => {
          nrOfTests++;
        },
        ended: (_test: Test, _ms, failed) => {
          failure ??= failed;
          return !failure;
        },
      });
    } catch (error) {
      const id = [...chosen].find((id) => fileOf(id) === file)!;
      failure = { test: { id, name: id, file }, error };
    }
    if (failure) break;
  }
  return { failure, nrOfTests };
};

let isFresh = true;
let isSpoiled = false;

const EVERY = Number(process.env['MUTATE_EVERY']);

const mutantRun: TestRunner['mutantRun'] = async ({ activeMutant, testFilter, hitLimit, mutantActivation }) => {
  if (Number(activeMutant.id) % EVERY !== 0)
    return { status: MutantRunStatus.Error, errorMessage: 'not in the sample' };
  // A mutant of what runs while modules load is active before they do: that takes a process of its own.
  const isStatic = mutantActivation === 'static';
  if (isSpoiled || (isStatic && !isFresh)) process.exit(1);
  const wasFresh = isFresh;
  isFresh = false;
  const chosen = new Set(testFilter ?? Object.keys(knownDurations()));
  if (!isStatic) for (const file of filesInOrder(chosen)) await loadTestFile(file);
  shared.hitLimit = hitLimit && Math.ceil((hitLimit * HIT_FACTOR) / 100);
  shared.hitCount = hitLimit && 0;
  shared.activeMutant = activeMutant.id;
  const { failure, nrOfTests } = await runTests(chosen);
  const isWithoutEnd = shared.hitLimit !== undefined && shared.hitCount! > shared.hitLimit;
  shared.hitLimit = undefined;
  shared.hitCount = undefined;
  shared.activeMutant = NO_MUTANT;
  isSpoiled = isStatic;
  if (!failure) return { status: MutantRunStatus.Survived, nrOfTests };
  const failureMessage = textOf(failure.error);
  if (isWithoutEnd || failure.error instanceof NoEnd) {
    isSpoiled = true;
    return { status: MutantRunStatus.Timeout, reason: failureMessage };
  }
  if (!isStatic) isSpoiled = (await runTests(new Set([failure.test.id]))).failure !== undefined;
  if (isSpoiled && !isStatic && !wasFresh) process.exit(1);
  const killed: MutantRunResult = {
    status: MutantRunStatus.Killed,
    killedBy: [failure.test.id],
    failureMessage,
    nrOfTests,
  };
  return killed;
};

const inProcess = (): TestRunner => ({ capabilities: () => ({ reloadEnvironment: true }), dryRun, mutantRun });
inProcess.inject = [] as const;

export const strykerPlugins = [{ kind: PluginKind.TestRunner, name: 'in-process', factory: inProcess }];

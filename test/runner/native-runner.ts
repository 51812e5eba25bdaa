import { fork } from 'node:child_process';
import { once } from 'node:events';
import pMap from 'p-map';
import { hint, SEED } from '../seed.ts';

/** As much as is used of Jest's types, which its package does not export. */
export interface TestFile {
  readonly path: string;
  readonly context: { readonly config: { readonly slowTestThreshold: number } };
}
interface TestResult {
  readonly perfStats: object;
  readonly console?: readonly object[] | undefined;
}
interface SerializableError {
  readonly message: string;
  readonly stack: string;
}
/** What a test file came to. */
export type Outcome = { readonly result: TestResult } | { readonly error: SerializableError };
/** What a test file's process sends: that it lives, every second, and in the end its outcome. */
export type Sent = 'alive' | Outcome;

const ENTRY = new URL('./run-test-file.ts', import.meta.url);

/**
 * Runs a test file in a process of its own.
 *
 * @param silenceMs after which a process that sends nothing is killed. One with an endless loop fails; one that has sent its outcome has
 * it: Node may wait for its own threads forever as it exits (nodejs/node#54918)
 */
export const runTestFile = async (
  { path, context: { config } }: TestFile,
  globalConfig: object,
  silenceMs = 120_000,
): Promise<TestResult> => {
  const child = fork(ENTRY, {
    execArgv: ['--disable-warning=ExperimentalWarning'],
    env: { ...process.env, TEST_SEED: String(SEED) },
    serialization: 'advanced',
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (bytes: Buffer) => {
      output += bytes.toString('utf8');
    });
  let outcome: Outcome | undefined;
  let isSilent = false;
  const silence = setTimeout(() => {
    isSilent = true;
    child.kill('SIGKILL');
    // What it started may have them still.
    child.stdout?.destroy();
    child.stderr?.destroy();
  }, silenceMs);
  child.on('message', (message) => {
    silence.refresh();
    if (message !== 'alive') outcome = message as Outcome;
  });
  child.send({ path, config, globalConfig });
  const start = Date.now();
  const [code, signal] = await once(child, 'close');
  clearTimeout(silence);
  const end = isSilent ? `was killed: it was busy for ${silenceMs} ms without a pause` : `ended with ${signal ?? code}`;
  outcome ??= { error: { message: `The test file's process ${end}.\n${hint}\n${output}`, stack: '' } };
  if ('error' in outcome) throw outcome.error;
  const runtime = Date.now() - start;
  const perfStats = { start, end: start + runtime, runtime, slow: runtime / 1_000 > config.slowTestThreshold };
  const printed = output === '' ? undefined : [{ type: 'log', message: output, origin: '' }];
  return { ...outcome.result, perfStats: { ...outcome.result.perfStats, ...perfStats }, console: printed };
};

/**
 * Runs each test file in a Node process of its own, whose modules Node loads. Jest's own runner loads them through its virtual module
 * system, which takes several times as much processor time: more than most test files take themselves.
 */
export default class NativeRunner {
  readonly supportsEventEmitters = false;
  readonly #globalConfig: { readonly maxWorkers: number };

  constructor(globalConfig: { readonly maxWorkers: number }) {
    this.#globalConfig = globalConfig;
  }

  async runTests(
    files: readonly TestFile[],
    watcher: { isInterrupted(): boolean },
    onStart: (file: TestFile) => Promise<void>,
    onResult: (file: TestFile, result: object) => Promise<void>,
    onFailure: (file: TestFile, error: SerializableError) => Promise<void>,
  ): Promise<void> {
    await pMap(
      files,
      async (file) => {
        if (watcher.isInterrupted()) return;
        await onStart(file);
        await runTestFile(file, this.#globalConfig).then(
          (result) => onResult(file, result),
          (error: SerializableError) => onFailure(file, error),
        );
      },
      { concurrency: this.#globalConfig.maxWorkers },
    );
  }
}

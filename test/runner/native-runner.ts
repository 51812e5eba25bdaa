import { fork } from 'node:child_process';
import { once } from 'node:events';
import pMap from 'p-map';

/** As much as is used of Jest's types, which its package does not export. */
interface TestFile {
  readonly path: string;
  readonly context: { readonly config: { readonly slowTestThreshold: number } };
}
interface TestResult {
  readonly perfStats: object;
}
interface SerializableError {
  readonly message: string;
  readonly stack: string;
}
/** What a test file's process sends. */
export type Outcome = { readonly result: TestResult } | { readonly error: SerializableError };

const ENTRY = new URL('./run-test-file.ts', import.meta.url);

const runTestFile = async ({ path, context: { config } }: TestFile, globalConfig: object) => {
  const child = fork(ENTRY, {
    execArgv: ['--disable-warning=ExperimentalWarning'],
    serialization: 'advanced',
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (bytes: Buffer) => {
      output += bytes.toString('utf8');
    });
  let outcome: Outcome | undefined;
  child.once('message', (message) => {
    outcome = message as Outcome;
  });
  child.send({ path, config, globalConfig });
  const start = Date.now();
  const [code, signal] = await once(child, 'close');
  outcome ??= { error: { message: `The test file's process ended with ${signal ?? code}.\n${output}`, stack: '' } };
  if ('error' in outcome) throw outcome.error;
  const end = Date.now();
  const perfStats = { start, end, runtime: end - start, slow: (end - start) / 1_000 > config.slowTestThreshold };
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

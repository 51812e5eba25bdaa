import { Worker } from 'node:worker_threads';
import type { LambdaFunction } from './functions.ts';
import type { FunctionLog } from './log.ts';
import type { Invocation, SerializedError, WorkerMessage, WorkerSetup } from './protocol.ts';

/** The handler threw, could not be loaded, ran out of time or memory, or ended its own process. */
export class InvocationError extends Error {
  override readonly name = 'InvocationError';
  readonly errorType: string;

  constructor({ name, message, stack }: SerializedError) {
    super(message);
    this.errorType = name;
    if (stack !== undefined) this.stack = stack;
  }
}

/** One execution environment: takes one invocation at a time, and none after it has ended. */
export interface ExecutionEnvironment {
  readonly ended: boolean;
  /** @throws InvocationError */
  invoke(invocation: Omit<Invocation, 'deadline'>): Promise<unknown>;
  stop(): Promise<void>;
}

const INIT_TIMEOUT_MS = 10_000;

/** @param env the function's whole environment: nothing of the host's own shows through */
export const startEnvironment = (
  lambda: LambdaFunction,
  env: Readonly<Record<string, string>>,
  cognitoEndpoint: string,
  log: FunctionLog,
): ExecutionEnvironment => {
  const setup: WorkerSetup = { file: lambda.file, exportName: lambda.exportName, cognitoEndpoint };
  const worker = new Worker(new URL('./worker.ts', import.meta.url), {
    workerData: setup,
    env: { ...env },
    execArgv: ['--disable-warning=ExperimentalWarning'],
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: lambda.memoryMb },
  });
  log.take(worker.stdout);
  log.take(worker.stderr);

  let ended = false;
  let settle: ((message: WorkerMessage) => void) | undefined;
  let last: WorkerMessage | undefined;
  const end = (error: SerializedError) => {
    ended = true;
    last ??= { kind: 'error', error };
    settle?.({ kind: 'error', error });
  };
  worker.on('message', (message: WorkerMessage) => settle?.(message));
  worker.on('error', (error) => end({ name: error.name, message: error.message, stack: error.stack }));
  worker.on('exit', (code) =>
    end({
      name: 'Runtime.ExitError',
      message: `The function's process ended with exit code ${code}.`,
      stack: undefined,
    }),
  );

  /** The worker's next message, or an error when none comes in time; then the environment is ended, as on Lambda. */
  const next = async (withinMs: number): Promise<WorkerMessage> => {
    if (ended && last) return last;
    const { promise, resolve } = Promise.withResolvers<WorkerMessage>();
    settle = resolve;
    const timer = setTimeout(() => {
      end({ name: 'Sandbox.Timedout', message: `Task timed out after ${withinMs / 1000} seconds`, stack: undefined });
      void worker.terminate();
    }, withinMs);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      settle = undefined;
    }
  };
  const ready = next(INIT_TIMEOUT_MS);

  return {
    get ended() {
      return ended;
    },
    async invoke(invocation) {
      const init = await ready;
      if (init.kind === 'error') throw new InvocationError(init.error);
      const deadline = Date.now() + lambda.timeoutMs;
      worker.postMessage({ ...invocation, deadline });
      const message = await next(lambda.timeoutMs);
      if (message.kind === 'error') throw new InvocationError(message.error);
      return message.kind === 'result' && message.json !== undefined ? JSON.parse(message.json) : null;
    },
    async stop() {
      await worker.terminate();
    },
  };
};

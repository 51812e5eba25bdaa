import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { LambdaFunction } from './functions.ts';
import type { FunctionLog } from './log.ts';
import type { HostMessage, Invocation, SerializedError, WorkerMessage, WorkerSetup } from './protocol.ts';

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

/** Takes the bytes of a streamed response; resolves when there is room for more. */
export type TakeChunk = (bytes: Uint8Array) => Promise<void>;

/** Lambda gives ten seconds; all functions of a stack may begin at once here. */
const INIT_TIMEOUT_MS = 60_000;
const STOP_GRACE_MS = 500;

/** @see https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html */
export const MAX_EVENT_BYTES = 6 * 2 ** 20;
const MAX_RESULT_BYTES = MAX_EVENT_BYTES + 100;

/** Node's own cache of compiled code: with it, a function loads in half the time. */
const { NODE_COMPILE_CACHE } = process.env;
const compileCache = NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE };

/**
 * One execution environment: takes one invocation at a time, and none after it has ended.
 *
 * @param env the function's whole environment: nothing else of the host's own shows through
 */
export const startEnvironment = (lambda: LambdaFunction, env: Readonly<Record<string, string>>, log: FunctionLog) => {
  const setup: WorkerSetup = { file: lambda.file, exportName: lambda.exportName };
  const worker = new Worker(new URL('./worker.ts', import.meta.url), {
    workerData: setup,
    env: { ...env, ...compileCache },
    execArgv: ['--disable-warning=ExperimentalWarning'],
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: lambda.memoryMb },
  });
  log.take(worker.stdout);
  log.take(worker.stderr);

  let ended = false;
  let receive: ((message: WorkerMessage) => void) | undefined;
  let last: WorkerMessage | undefined;
  const end = (error: SerializedError) => {
    ended = true;
    last ??= { kind: 'error', error };
    receive?.({ kind: 'error', error });
  };
  const send = (message: HostMessage) => worker.postMessage(message);
  let take: TakeChunk = async () => {};
  /** Nobody takes the response any more: without an end the handler would wait for ever. */
  const abandon = (error: Error) => {
    end({ name: 'Runtime.InvalidStreamingResponse', message: error.message });
    void worker.terminate();
  };
  worker.on('message', (message: WorkerMessage) => {
    if (message.kind === 'chunk') void take(message.bytes).then(() => send({ kind: 'more' }), abandon);
    else receive?.(message);
  });
  worker.on('error', (error) => end({ name: error.name, message: error.message, stack: error.stack }));
  worker.on('exit', (code) =>
    end({ name: 'Runtime.ExitError', message: `The function's process ended with exit code ${code}.` }),
  );

  /** The worker's next message, or an error when none comes in time; then the environment is ended, as on Lambda. */
  const next = async (withinMs: number): Promise<WorkerMessage> => {
    if (ended && last) return last;
    const { promise, resolve } = Promise.withResolvers<WorkerMessage>();
    receive = resolve;
    const timer = setTimeout(() => {
      end({ name: 'Sandbox.Timedout', message: `Task timed out after ${withinMs / 1000} seconds` });
      void worker.terminate();
    }, withinMs);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      receive = undefined;
    }
  };
  const ready = next(INIT_TIMEOUT_MS);

  return {
    get ended() {
      return ended;
    },
    /** @throws InvocationError */
    async invoke(invocation: Omit<Invocation, 'deadline'>, takeChunk?: TakeChunk): Promise<unknown> {
      const init = await ready;
      if (init.kind === 'error') throw new InvocationError(init.error);
      const deadline = Date.now() + lambda.timeoutMs;
      take = takeChunk ?? (async () => {});
      send({ kind: 'invoke', invocation: { ...invocation, deadline } });
      const message = await next(lambda.timeoutMs);
      if (message.kind === 'error') throw new InvocationError(message.error);
      if (message.kind !== 'result' || message.json === undefined) return null;
      const bytes = Buffer.byteLength(message.json);
      if (bytes > MAX_RESULT_BYTES)
        throw new InvocationError({
          name: 'Function.ResponseSizeTooLarge',
          message: `Response payload size (${bytes} bytes) exceeded maximum allowed payload size (${MAX_RESULT_BYTES} bytes).`,
        });
      return JSON.parse(message.json);
    },
    async stop(): Promise<void> {
      if (ended) return;
      const exited = once(worker, 'exit');
      send({ kind: 'stop' });
      const grace = setTimeout(() => void worker.terminate(), STOP_GRACE_MS);
      await exited;
      clearTimeout(grace);
    },
  };
};

export type ExecutionEnvironment = ReturnType<typeof startEnvironment>;

import { once } from 'node:events';
import { pathToFileURL } from 'node:url';
import { parentPort, workerData } from 'node:worker_threads';
import type { HostMessage, Invocation, SerializedError, WorkerMessage, WorkerSetup } from './protocol.ts';
import { installStreaming, responseStream } from './response-stream.ts';

/** One execution environment of one function: a thread with the function's own environment variables. */

const { file, exportName } = workerData as WorkerSetup;
const port = parentPort;
if (!port) throw new Error('This file is the entry of a worker thread.');

const tell = (message: WorkerMessage): void => port.postMessage(message);

const serialized = (error: unknown): SerializedError =>
  error instanceof Error
    ? { name: error.name, message: error.message, stack: error.stack }
    : { name: 'Error', message: String(error) };

const isStreaming = installStreaming();

type Handler = (...args: readonly unknown[]) => unknown;

const loadHandler = async (): Promise<Handler> => {
  const module: Record<string, unknown> = await import(pathToFileURL(file).href);
  // A CommonJS bundle shows its exports under `default` where Node cannot name them.
  const handler = module[exportName] ?? (module['default'] as Record<string, unknown> | undefined)?.[exportName];
  if (typeof handler !== 'function') throw new Error(`${file} exports no function ${exportName}.`);
  return handler as Handler;
};

const handler = await loadHandler();

let onRoom = () => {};

/** Resolves when the whole response was sent. */
const stream = async (event: unknown, context: object): Promise<void> => {
  const output = responseStream((bytes, sent) => {
    onRoom = sent;
    tell({ kind: 'chunk', bytes });
  });
  const finished = once(output, 'finish');
  // A handler that fails may have interrupted the stream first: report the handler's own error.
  finished.catch(() => {});
  await handler(event, output, context);
  output.end();
  await finished;
};

const run = async ({ event, context, deadline }: Invocation): Promise<void> => {
  const fullContext = {
    ...context,
    callbackWaitsForEmptyEventLoop: true,
    getRemainingTimeInMillis: () => Math.max(0, deadline - Date.now()),
  };
  try {
    if (isStreaming(handler)) {
      await stream(event, fullContext);
      tell({ kind: 'result', json: undefined });
    } else {
      tell({ kind: 'result', json: JSON.stringify(await handler(event, fullContext)) });
    }
  } catch (error) {
    tell({ kind: 'error', error: serialized(error) });
  }
};

port.on('message', (message: HostMessage) => {
  if (message.kind === 'invoke') void run(message.invocation);
  else if (message.kind === 'more') onRoom();
  else process.stdout.write('', () => process.exit(0));
});

tell({ kind: 'ready' });

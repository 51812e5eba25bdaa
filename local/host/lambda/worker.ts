import { pathToFileURL } from 'node:url';
import { parentPort, workerData } from 'node:worker_threads';
import { fetchJwksFrom } from './offline-jwks.ts';
import type { Invocation, SerializedError, WorkerMessage, WorkerSetup } from './protocol.ts';
import { offerResponseStreaming } from './response-streaming.ts';

/** One execution environment of one function: a thread with the function's own environment variables. */

const { file, exportName, cognitoEndpoint } = workerData as WorkerSetup;
const port = parentPort;
if (!port) throw new Error('This file is the entry of a worker thread.');

const tell = (message: WorkerMessage): void => port.postMessage(message);

const serialized = (error: unknown): SerializedError =>
  error instanceof Error
    ? { name: error.name, message: error.message, stack: error.stack }
    : { name: 'Error', message: String(error), stack: undefined };

process.setSourceMapsEnabled(true);
fetchJwksFrom(cognitoEndpoint);
offerResponseStreaming();

type Handler = (event: unknown, context: object) => unknown;

const loadHandler = async (): Promise<Handler> => {
  const module: Record<string, unknown> = await import(pathToFileURL(file).href);
  // A CommonJS bundle shows its exports under `default` where Node cannot name them.
  const handler = module[exportName] ?? (module['default'] as Record<string, unknown> | undefined)?.[exportName];
  if (typeof handler !== 'function') throw new Error(`${file} exports no function ${exportName}.`);
  return handler as Handler;
};

const handler = await loadHandler();

port.on('message', async ({ event, context, deadline }: Invocation) => {
  try {
    const result = await handler(event, {
      ...context,
      callbackWaitsForEmptyEventLoop: true,
      getRemainingTimeInMillis: () => Math.max(0, deadline - Date.now()),
    });
    tell({ kind: 'result', json: JSON.stringify(result) });
  } catch (error) {
    tell({ kind: 'error', error: serialized(error) });
  }
});

tell({ kind: 'ready' });

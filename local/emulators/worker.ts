import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parentPort, Worker } from 'node:worker_threads';
import { SetupError } from '../setup-error.ts';

export interface Emulator {
  /** `http://127.0.0.1:PORT`, for AWS_ENDPOINT_URL_* */
  readonly endpoint: string;
  readonly port: number;
  /** Ends it; the data stays. */
  stop(): Promise<void>;
}

export interface EmulatorOptions {
  /** Takes the data; without it, they are in memory. */
  readonly dataDir?: string;
  /** Takes what the emulator prints; without it, that is dropped. */
  readonly logFile?: string | undefined;
  /** Requests must be signed with it. */
  readonly secretAccessKey?: string;
}

const STOP_GRACE_MS = 2_000;

/** @see https://www.sqlite.org/rescode.html#full */
const SQLITE_FULL = 13;

const isOfFullDisk = ({ code, errcode }: NodeJS.ErrnoException & { readonly errcode?: number }): boolean =>
  code === 'ENOSPC' || errcode === SQLITE_FULL;

/**
 * Starts an emulator in a worker thread. Threads rather than processes: nothing is left behind after kill -9, module state
 * is separate, and the emulator's work does not stall the gateway's event loop. It may be stopped twice.
 *
 * @param options.data handed to the worker as `workerData`; structured-cloneable
 * @throws SetupError where the disk is full; otherwise the emulator's own error when it cannot start
 */
export const startWorker = async (
  entry: URL,
  options: Pick<EmulatorOptions, 'logFile'> & { readonly data: unknown },
): Promise<Emulator> => {
  const worker = new Worker(entry, {
    workerData: options.data,
    execArgv: ['--disable-warning=ExperimentalWarning'],
    stdout: true,
    stderr: true,
  });
  if (options.logFile) {
    const log = createWriteStream(options.logFile, { flags: 'a' });
    worker.stdout.pipe(log, { end: false });
    worker.stderr.pipe(log, { end: false });
    worker.once('exit', () => log.end());
  } else {
    worker.stdout.resume();
    worker.stderr.resume();
  }
  const exited = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
  const port = await new Promise<number>((resolve, reject) => {
    worker.once('message', (message: { readonly port: number }) => resolve(message.port));
    worker.once('error', (error) =>
      reject(
        isOfFullDisk(error)
          ? new SetupError('The disk of the data folder is full: free some, or choose another with --data.')
          : error,
      ),
    );
    worker.once('exit', (code) => reject(new Error(`The emulator ${entry.pathname} ended with code ${code}.`)));
  });
  // A later crash shows as failing calls to the emulator; without a listener it would end the whole stack.
  worker.on('error', (error) => console.error(`Emulator ${entry.pathname} failed: ${String(error)}`));

  return {
    endpoint: `http://127.0.0.1:${port}`,
    port,
    async stop() {
      worker.postMessage('stop');
      const grace = setTimeout(() => void worker.terminate(), STOP_GRACE_MS);
      await exited;
      clearTimeout(grace);
    },
  };
};

/** The worker's side: tells the port, waits for the word to stop, closes, and lets the thread end. */
export const serveUntilStopped = async (port: number, close: () => unknown): Promise<void> => {
  if (!parentPort) throw new Error('This file is the entry of a worker thread.');
  parentPort.postMessage({ port });
  await once(parentPort, 'message');
  await close();
  process.exit(0);
};

/** The same for a server of Node that listens. */
export const serveHere = (server: Server): Promise<void> =>
  serveUntilStopped((server.address() as AddressInfo).port, () => {
    server.close();
    server.closeAllConnections();
  });

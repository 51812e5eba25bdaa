import type { Emulator } from './emulator.ts';
import { startWorker } from './worker.ts';

/**
 * SQS and S3 by fauxqs, in a worker thread: messages in SQLite, objects as files, both under `dataDir`. Intact after kill -9. Of a link to an
 * object only the expiry is checked.
 */
export const startSqs = async (options: {
  readonly dataDir: string;
  readonly logFile?: string | undefined;
}): Promise<Emulator> => {
  const worker = await startWorker(new URL('./sqs-worker.ts', import.meta.url), {
    data: { dataDir: options.dataDir },
    logFile: options.logFile,
  });
  return { endpoint: `http://127.0.0.1:${worker.port}`, port: worker.port, stop: worker.stop };
};

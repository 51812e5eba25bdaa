import type { Emulator } from './emulator.ts';
import { startWorker } from './worker.ts';

/** SQS by fauxqs, in a worker thread, its data (SQLite) under `dataDir`. Intact after kill -9. */
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

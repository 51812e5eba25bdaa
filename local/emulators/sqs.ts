import { KNOWN_SECRET } from './guard.ts';
import { type Emulator, startWorker } from './worker.ts';

/**
 * SQS and S3 by fauxqs, in a worker thread: messages in SQLite, objects as files, both under `dataDir`. Intact after kill -9.
 */
export const startSqs = async (options: {
  readonly dataDir: string;
  readonly logFile?: string | undefined;
  readonly secretAccessKey?: string;
}): Promise<Emulator> => {
  return startWorker(new URL('./sqs-worker.ts', import.meta.url), {
    data: { dataDir: options.dataDir, secretAccessKey: options.secretAccessKey ?? KNOWN_SECRET },
    logFile: options.logFile,
  });
};

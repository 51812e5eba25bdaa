import { KNOWN_SECRET } from './guard.ts';
import { type Emulator, type EmulatorOptions, startWorker } from './worker.ts';

/**
 * SQS and S3 by fauxqs, in a worker thread: messages in SQLite, objects as files, both under `dataDir`. Intact after kill -9. Without a
 * folder, both are in memory.
 */
export const startSqs = ({
  dataDir,
  logFile,
  secretAccessKey = KNOWN_SECRET,
}: EmulatorOptions = {}): Promise<Emulator> =>
  startWorker(new URL('./sqs-worker.ts', import.meta.url), { data: { dataDir, secretAccessKey }, logFile });

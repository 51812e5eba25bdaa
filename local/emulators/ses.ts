import { KNOWN_SECRET } from './guard.ts';
import { type Emulator, type EmulatorOptions, startWorker } from './worker.ts';

/** One mail that was sent, as aws-ses-v2-local keeps it. `at` is in epoch seconds. */
interface Mail {
  readonly messageId: string;
  readonly from: string;
  readonly destination: {
    readonly to: readonly string[];
    readonly cc: readonly string[];
    readonly bcc: readonly string[];
  };
  readonly subject: string;
  readonly body: { readonly html?: string; readonly text?: string };
  readonly at: number;
}

export interface MailEmulator extends Emulator {
  /** All mail sent so far, oldest first. People read it in a browser at `endpoint`. */
  inbox(): Promise<readonly Mail[]>;
}

/** SES (v1 and v2 SendEmail) by aws-ses-v2-local, in a worker thread. With `dataDir`, mail survives a restart. */
export const startSes = async ({
  dataDir,
  logFile,
  secretAccessKey = KNOWN_SECRET,
}: EmulatorOptions = {}): Promise<MailEmulator> => {
  const data = { dataDir, secretAccessKey };
  const worker = await startWorker(new URL('./ses-worker.ts', import.meta.url), { data, logFile });
  return {
    ...worker,
    async inbox() {
      const response = await fetch(`${worker.endpoint}/store`);
      const store = (await response.json()) as { readonly emails: readonly Mail[] };
      return store.emails;
    },
  };
};

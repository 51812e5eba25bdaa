import { onNpmEnd } from './npm-process.ts';
import { SetupError } from './setup-error.ts';
import { onStopSignal } from './stop-signal.ts';

/** Prints what went wrong: one line where the message says what to do, everything otherwise. */
export const reportFailure = (error: unknown): void => {
  console.error(error instanceof SetupError ? error.message : error);
};

/**
 * Starts something and stops it at the first signal, or when the npm that started this process ends; a second signal ends the
 * process at once.
 *
 * @param start returns what stops it
 */
export const runUntilSignal = async (start: () => Promise<() => Promise<void>>): Promise<void> => {
  const { promise: signalled, resolve } = Promise.withResolvers<void>();
  let stopping = false;
  const beginToStop = (): void => {
    stopping = true;
    resolve();
  };
  onStopSignal(beginToStop);
  onNpmEnd(beginToStop);
  try {
    const stop = await start();
    await signalled;
    await stop();
    process.exit(0);
  } catch (error) {
    // Work that a signal interrupted is no failure.
    if (stopping) process.exit(130);
    reportFailure(error);
    process.exit(1);
  }
};

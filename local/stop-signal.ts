const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** The terminal sends Ctrl-C to the process and npm sends it again: a second signal this soon is the same keystroke. */
const SAME_KEYSTROKE_MS = 500;

/** Calls back at the first SIGINT or SIGTERM. A further one ends the process at once. */
export const onStopSignal = (stop: () => void): void => {
  let firstAt: number | undefined;
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      if (firstAt === undefined) {
        firstAt = Date.now();
        stop();
      } else if (Date.now() - firstAt > SAME_KEYSTROKE_MS) {
        process.exit(130);
      }
    });
  }
};

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** npm passes Ctrl-C on to a process that the terminal has told already: what follows this soon is the same keystroke. */
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

/** Longer than the identity provider mostly takes; what takes longer ends at a multiple of it. */
const STEP_MS = 400;

export interface Clock {
  readonly nowMs: () => number;
  readonly pause: (ms: number) => Promise<unknown>;
}

/** Hides how long something took, up to the step: used where the time would tell whether a user exists. */
export const evenTiming = ({ nowMs, pause }: Clock) => {
  const untilNextStep = async (startedMs: number) => {
    const tookMs = nowMs() - startedMs;
    await pause(Math.ceil(tookMs / STEP_MS) * STEP_MS - tookMs);
  };
  return {
    /** Success at once, failure at the next step. */
    onFailure: async <T>(work: () => Promise<T>): Promise<T> => {
      const startedMs = nowMs();
      try {
        return await work();
      } catch (error) {
        await untilNextStep(startedMs);
        throw error;
      }
    },
    /** Success and failure at the next step. */
    always: async <T>(work: () => Promise<T>): Promise<T> => {
      const startedMs = nowMs();
      try {
        return await work();
      } finally {
        await untilNextStep(startedMs);
      }
    },
  };
};

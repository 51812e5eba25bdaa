/** Longer than most calls of the identity provider. Slower work ends at a multiple of it. */
const STEP_MS = 400;

export interface Clock {
  readonly nowMs: () => number;
  readonly pause: (ms: number) => Promise<unknown>;
}

/** Rounds durations up to whole steps, so that response times do not reveal whether a user exists. */
export const evenTiming = ({ nowMs, pause }: Clock) => {
  const untilNextStep = async (startedMs: number) => {
    const tookMs = nowMs() - startedMs;
    await pause(Math.ceil(tookMs / STEP_MS) * STEP_MS - tookMs);
  };
  return {
    /** Succeeds at once; fails at the next step. */
    onFailure: <T>(work: () => Promise<T>): Promise<T> => {
      const startedMs = nowMs();
      return work().catch(async (error: unknown) => {
        await untilNextStep(startedMs);
        throw error;
      });
    },
    /** Succeeds or fails at the next step. */
    always: <T>(work: () => Promise<T>): Promise<T> => {
      const startedMs = nowMs();
      return work().finally(() => untilNextStep(startedMs));
    },
  };
};

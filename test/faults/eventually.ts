import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';

/** For what the recorder has to work off: on a busy machine the emulators are slower than the traffic. */
export const DELIVERY_MS = 900_000;

/**
 * Waits for what must come true: soon, on an idle machine, and in the end on any.
 *
 * @throws AssertionError with `what` when it does not within the time
 */
export const eventually = async (
  holds: () => boolean | Promise<boolean>,
  what: string,
  withinMs = 60_000,
  pollMs = 5,
): Promise<void> => {
  const deadline = performance.now() + withinMs;
  while (!(await holds())) {
    assert.ok(performance.now() < deadline, what);
    await sleep(pollMs);
  }
};

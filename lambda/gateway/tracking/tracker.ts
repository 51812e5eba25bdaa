import type { CloseEvent, OpenEvent, UsageEvent } from '../../domain/usage/usage-event.ts';
import { type UndeliveredSettings, undeliveredEvents } from './undelivered.ts';
import type { SendEvent } from './usage-queue.ts';

export interface Tracker {
  /** Registers a request before its answer is known. True once the queue has it; false when it would not take it. Never rejects. */
  open(event: OpenEvent): Promise<boolean>;
  /**
   * Settles a request: queue, else table, else memory (see undelivered.ts) and one structured log line that can be replayed.
   * Resolves when the event is in one of them. Never rejects.
   */
  close(event: CloseEvent): Promise<void>;
  /** Resolves when every event handed over so far is settled, one way or another, and what is in memory was tried once more. */
  drain(): Promise<void>;
}

export interface TrackerSettings {
  /** How long SQS holds an open event back: long enough for the close event to come first. */
  readonly openEventDelaySeconds: number;
  /** Pauses before the second and later tries of a close event. */
  readonly retryDelaysMs: readonly number[];
  readonly undelivered?: UndeliveredSettings;
}

/**
 * The last resort where the process ends before it can deliver, read back by the replay command: the event names an account and a
 * request, no credential, no body.
 */
const logLost = (event: CloseEvent, error: unknown): void => {
  console.error(
    JSON.stringify({ level: 'ERROR', message: 'usage event not delivered', reason: String(error), usageEvent: event }),
  );
};

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * @param send puts an event on the queue, one try
 * @param park writes an event to the table, one try
 */
export const createTracker = (
  send: SendEvent,
  park: (event: UsageEvent) => Promise<void>,
  settings: TrackerSettings,
  lost: (event: CloseEvent, error: unknown) => void = logLost,
): Tracker => {
  const unsettled = new Set<Promise<unknown>>();
  const undelivered = undeliveredEvents((event) => send(event, 0).catch(() => park(event)), settings.undelivered);

  const tracked = <T>(work: Promise<T>): Promise<T> => {
    unsettled.add(work);
    const over = (): void => {
      unsettled.delete(work);
    };
    work.then(over, over);
    return work;
  };

  /** Where something gets through, so may what could not before: a process that is frozen between requests has no other time for it. */
  const deliverWhatWaits = async (): Promise<void> => {
    if (undelivered.waiting) await undelivered.deliver();
  };

  const settle = async (event: CloseEvent): Promise<void> => {
    for (let attempt = 0; ; attempt++) {
      try {
        await send(event, 0);
        return await deliverWhatWaits();
      } catch {
        const delay = settings.retryDelaysMs[attempt];
        if (delay === undefined) break;
        await pause(delay);
      }
    }
    for (const last of [false, true]) {
      try {
        await park(event);
        return await deliverWhatWaits();
      } catch (error) {
        if (!last) continue;
        lost(event, error);
        undelivered.keep(event);
      }
    }
  };

  return {
    open: (event) =>
      tracked(
        send(event, settings.openEventDelaySeconds).then(
          () => true,
          () => false,
        ),
      ),
    close: (event) => tracked(settle(event)),
    drain: async () => {
      while (unsettled.size > 0) await Promise.all(unsettled);
      await undelivered.deliver();
    },
  };
};

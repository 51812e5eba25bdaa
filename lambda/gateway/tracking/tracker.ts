import type { CloseEvent, OpenEvent, UsageEvent } from '../../domain/usage/usage-event.ts';
import { type UndeliveredSettings, undeliveredEvents } from './undelivered.ts';
import type { SendEvent } from './usage-queue.ts';

export interface Tracker {
  /** Sends a request's open event. True if the queue accepted it, false if not. Never rejects. */
  open(event: OpenEvent): Promise<boolean>;
  /**
   * Delivers a request's close event: to the queue, else to the table, else to memory (see undelivered.ts) and a log line that
   * can be replayed. Resolves when the event is in one of them. Never rejects.
   */
  close(event: CloseEvent): Promise<void>;
  /** Resolves when every event so far is delivered or in memory, and those in memory were tried once more. */
  drain(): Promise<void>;
}

export interface TrackerSettings {
  /** How long SQS delays an open event: long enough for the close event to arrive first. */
  readonly openEventDelaySeconds: number;
  /** Pauses before the second and later attempts to send a close event. */
  readonly retryDelaysMs: readonly number[];
  readonly undelivered?: UndeliveredSettings;
}

/**
 * Logs an event that is only in memory, in case the process ends first; the replay command reads it back. The event names an
 * account and a request but contains no credential and no body.
 */
const logLost = (event: CloseEvent, error: unknown): void => {
  console.error(
    JSON.stringify({ level: 'ERROR', message: 'usage event not delivered', reason: String(error), usageEvent: event }),
  );
};

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * @param send sends an event to the queue, in one attempt
 * @param writeToTable writes an event to the table's outbox, in one attempt
 */
export const createTracker = (
  send: SendEvent,
  writeToTable: (event: UsageEvent) => Promise<void>,
  settings: TrackerSettings,
  reportLost: (event: CloseEvent, error: unknown) => void = logLost,
): Tracker => {
  const pending = new Set<Promise<unknown>>();
  const undelivered = undeliveredEvents(
    (event) => send(event, 0).catch(() => writeToTable(event)),
    settings.undelivered,
  );

  const track = <T>(work: Promise<T>): Promise<T> => {
    pending.add(work);
    const remove = (): void => {
      pending.delete(work);
    };
    work.then(remove, remove);
    return work;
  };

  /** After a success the events in memory may succeed, too. A process that is frozen between requests has no other time for it. */
  const deliverWaiting = async (): Promise<void> => {
    if (undelivered.waiting) await undelivered.deliver();
  };

  const deliver = async (event: CloseEvent): Promise<void> => {
    for (let attempt = 0; ; attempt++) {
      try {
        await send(event, 0);
        return await deliverWaiting();
      } catch {
        const delay = settings.retryDelaysMs[attempt];
        if (delay === undefined) break;
        await pause(delay);
      }
    }
    for (const isLast of [false, true]) {
      try {
        await writeToTable(event);
        return await deliverWaiting();
      } catch (error) {
        if (!isLast) continue;
        reportLost(event, error);
        undelivered.keep(event);
      }
    }
  };

  return {
    open: (event) =>
      track(
        send(event, settings.openEventDelaySeconds).then(
          () => true,
          () => false,
        ),
      ),
    close: (event) => track(deliver(event)),
    drain: async () => {
      while (pending.size > 0) await Promise.all(pending);
      await undelivered.deliver();
    },
  };
};

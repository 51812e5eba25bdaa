import { uuidv7 } from 'uuidv7';
import type { CloseEvent, UntrackedEvent, UsageEvent } from '../../domain/usage/usage-event.ts';

export interface UndeliveredSettings {
  /** Most bytes of all kept events, as JSON. Above this a request is only counted. */
  readonly maxBytes: number;
  /** Pause between two attempts while none succeeds. */
  readonly retryMs: number;
}

export interface Undelivered {
  /** Keeps an event until it can be delivered, or counts it if there is no room. */
  keep(event: CloseEvent): void;
  /** Sends the kept events until none remains or none succeeds. Never rejects. */
  deliver(): Promise<void>;
  /** True while something is kept. */
  readonly waiting: boolean;
}

const defaults: UndeliveredSettings = { maxBytes: 16 * 2 ** 20, retryMs: 1_000 };
/** Events delivered concurrently: two batches of the queue. */
const CONCURRENCY = 20;
/** Most combinations of account and hour with a count of their own. */
const MAX_COUNTED = 10_000;

interface Kept {
  readonly event: UsageEvent;
  readonly bytes: number;
}

const bytesOf = (event: UsageEvent): number => JSON.stringify(event).length;

/** One report for each account and hour, so that a reported gap is at most an hour too wide. */
const reportName = ({ accountId, unverifiedKeyHash, startedAt }: CloseEvent): string =>
  `${accountId ?? unverifiedKeyHash}#${startedAt.slice(0, 13)}`;

const addTo = (report: UntrackedEvent | undefined, event: CloseEvent): UntrackedEvent => {
  const { accountId, unverifiedKeyHash, startedAt } = event;
  if (!report)
    return {
      version: 1,
      kind: 'untracked',
      requestId: uuidv7(),
      accountId,
      ...(unverifiedKeyHash !== undefined && { unverifiedKeyHash }),
      from: startedAt,
      to: startedAt,
      requests: 1,
    };
  const [from = startedAt, , to = startedAt] = [report.from, report.to, startedAt].sort();
  return { ...report, from, to, requests: report.requests + 1 };
};

/**
 * Keeps close events in bounded memory that neither queue nor table accepted, and retries until one of the two is back. Events
 * without room are counted, and reported as untracked after the first success, so that the account sees the gap.
 *
 * @param send delivers one event, in one attempt
 */
export const undeliveredEvents = (
  send: (event: UsageEvent) => Promise<void>,
  { maxBytes, retryMs }: UndeliveredSettings = defaults,
): Undelivered => {
  const kept: Kept[] = [];
  let keptBytes = 0;
  let counted = new Map<string, UntrackedEvent>();
  let timer: NodeJS.Timeout | undefined;
  let delivering: Promise<void> | undefined;

  const retryLater = (): void => {
    if (timer) return;
    timer = setTimeout(() => {
      timer = undefined;
      void deliver();
    }, retryMs);
    // The timer need not keep the process alive: every event has been logged.
    timer.unref();
  };

  const work = async (): Promise<void> => {
    let delivered = 0;
    while (kept.length > 0 || counted.size > 0) {
      if (kept.length === 0) {
        // What is reported is not added to any more.
        for (const event of counted.values()) kept.push({ event, bytes: 0 });
        counted = new Map();
      }
      const some = kept.splice(0, CONCURRENCY);
      const failed: Kept[] = [];
      await Promise.all(
        some.map((each) =>
          send(each.event).then(
            () => {
              delivered++;
              keptBytes -= each.bytes;
            },
            () => failed.push(each),
          ),
        ),
      );
      // After the others: an event that is always refused must not block them.
      kept.push(...failed);
      if (failed.length === some.length) {
        retryLater();
        break;
      }
    }
    if (delivered > 0)
      console.warn(JSON.stringify({ level: 'WARN', message: 'kept usage events delivered', events: delivered }));
  };

  const deliver = (): Promise<void> => {
    delivering ??= work().finally(() => {
      delivering = undefined;
    });
    return delivering;
  };

  return {
    keep: (event) => {
      const bytes = bytesOf(event);
      if (keptBytes + bytes <= maxBytes) {
        kept.push({ event, bytes });
        keptBytes += bytes;
      } else {
        const name = reportName(event);
        const report = counted.get(name);
        if (report || counted.size < MAX_COUNTED) counted.set(name, addTo(report, event));
      }
      retryLater();
    },
    deliver,
    get waiting() {
      return kept.length > 0 || counted.size > 0;
    },
  };
};

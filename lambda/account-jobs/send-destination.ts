import { type DayExports, exportChanges, manifestText } from '../data/exports/day-exports.ts';
import type { Destinations } from '../data/exports/destinations.ts';
import type { openRequests } from '../data/requests/requests.ts';
import { inBatches } from '../data/table/batch.ts';
import { MINUTE_MS } from '../domain/calendar/units.ts';
import type { Destination, DestinationChanges } from '../domain/exports/destination.ts';
import { otlpLogs, otlpMetrics } from '../domain/exports/otlp.ts';
import type { RequestRecord } from '../domain/spend/request-record.ts';
import { type PostJson, WebhookError } from '../integrations/webhook.ts';

interface SendDependencies {
  readonly destinations: Pick<Destinations, 'find' | 'note'>;
  readonly dayExports: Pick<DayExports, 'list'>;
  readonly requests: Pick<ReturnType<typeof openRequests>, 'all'>;
  readonly post: PostJson;
  readonly now: () => Date;
}

/** After that many failures in a row, some five hours, it waits until somebody switches it on again. It goes on where it was. */
const MAX_FAILURES = 10;
const MAX_PAUSE_MINUTES = 60;
/** A request is on record by then, even if its process died: what its close event or a new price changes later is not sent again. */
const SETTLED_MS = 20 * MINUTE_MS;
/** A post is about 700 kB. */
const RECORDS_PER_POST = 500;

/** An error as people read it. */
const problemOf = (error: unknown): string => (error instanceof WebhookError ? error.message : 'it could not be sent');

/**
 * Sends a destination what is new, in order, and at least once: after a failure it goes on with what was not taken. Where the time does not
 * suffice, the rest waits for the next run.
 */
export const sendDestination = ({ destinations, dayExports, requests, post, now }: SendDependencies) => {
  const inAMinute = () => new Date(now().getTime() + MINUTE_MS).toISOString();

  const sendManifests = async (
    { accountId, cursor, ...target }: Destination,
    noteSent: (cursor: string) => Promise<void>,
    isLate: () => boolean,
  ) => {
    for (const { at, day, exported } of await exportChanges(dayExports, accountId, cursor ?? undefined, now())) {
      if (isLate()) return;
      await post(target, manifestText(day, exported), now());
      await noteSent(at);
    }
  };

  const sendRequests = async (
    { accountId, cursor, createdAt, ...target }: Destination,
    noteSent: (cursor: string) => Promise<void>,
    isLate: () => boolean,
  ) => {
    const send = (signal: string, body: object) =>
      post({ ...target, url: `${target.url.replace(/\/$/, '')}/v1/${signal}` }, JSON.stringify(body), now());
    const untilMs = now().getTime() - SETTLED_MS;
    for (let from = Date.parse(cursor ?? createdAt); from < untilMs && !isLate(); ) {
      const toMs = Math.min(from + MINUTE_MS, untilMs);
      const range = { from: new Date(from).toISOString(), to: new Date(toMs).toISOString() };
      const records: RequestRecord[] = [];
      for await (const batch of inBatches(requests.all(accountId, range), RECORDS_PER_POST)) {
        await send('logs', otlpLogs(batch, now()));
        records.push(...batch);
      }
      // Last, and once for the range: a receiver would add it a second time.
      if (records.length > 0) await send('metrics', otlpMetrics(records, range));
      await noteSent(range.to);
      from = toMs;
    }
  };

  /** Puts a destination off that did not take something. @returns the failures so far */
  const fail = async (destination: Destination, error: unknown): Promise<number> => {
    const failures = destination.failures + 1;
    const isOver = failures >= MAX_FAILURES;
    const dueMs = now().getTime() + Math.min(2 ** failures, MAX_PAUSE_MINUTES) * MINUTE_MS;
    const changes = { failures, problem: problemOf(error), ...(isOver && { isActive: false }) };
    await destinations.note(destination, changes, isOver ? null : new Date(dueMs).toISOString());
    return failures;
  };

  return {
    run: async (accountId: string, destinationId: string, isLate: () => boolean): Promise<void> => {
      const destination = await destinations.find(accountId, destinationId);
      if (destination === undefined) return;
      const next = (changes: DestinationChanges) => destinations.note(destination, changes, inAMinute());
      if (!destination.isActive) return void (await destinations.note(destination, {}, null));
      const noteSent = async (cursor: string) =>
        void (await next({ cursor, sentAt: now().toISOString(), failures: 0, problem: null }));
      try {
        await (destination.type === 'otlp' ? sendRequests : sendManifests)(destination, noteSent, isLate);
        await next({});
      } catch (error) {
        // A failure of a receiver is not a failure of this job.
        if (!(error instanceof WebhookError)) throw error;
        await fail((await destinations.find(accountId, destinationId)) ?? destination, error);
      }
    },

    putOff: async (accountId: string, destinationId: string, _dueAt: unknown, error: unknown): Promise<number> => {
      const destination = await destinations.find(accountId, destinationId);
      return destination === undefined ? 1 : fail(destination, error);
    },
  };
};

import pMap from 'p-map';
import * as z from 'zod/mini';
import { type Day, daysBetween } from '../../domain/calendar/utc.ts';
import type { SessionCounter } from '../../domain/spend/sessions.ts';
import { type Bounds, parseSessionCounterSk, sessionPartition, sessionPrefix } from '../table/keys.ts';
import { itemsIn, itemsUnder } from '../table/read.ts';
import type { Table } from '../table/table.ts';
import { parseCounters } from './spend-counters.ts';

/** Reading ends with the day that reaches it: about 40 MB of items. */
const MAX_COUNTERS = 100_000;
/** So does the day during which this passes: API Gateway waits for 29 s. */
const MAX_READ_MS = 15_000;
/** A busy account's days are read in turn, so that not many are read beyond the limit. */
const MAX_DAYS_AT_ONCE = 4;
const FEW_COUNTERS = 1_000;
/** One session is in few days, and of each it is a small part. */
const DAYS_OF_SESSION_AT_ONCE = 32;

/** The only part that reading many sessions checks by a schema: it takes a third of the time. */
const storedKey = z.object({ sk: z.string(), expiresAt: z.int() });
const NO_HOURS: ReadonlySet<number> = new Set();
const hourOf = (day: Day, hour: number): string => `${day}T${String(hour).padStart(2, '0')}`;

/** The last first. */
const daysOf = ({ from, to }: Bounds): Day[] => daysBetween(from, to).reverse();

/** The sums of sessions. @param now milliseconds */
export const openSessions = (table: Table, now: () => number = Date.now) => {
  /** The counter of a stored item; undefined where it has expired. */
  const parse = (day: Day, item: Record<string, unknown>): SessionCounter | undefined => {
    const { sk, expiresAt } = storedKey.parse(item);
    if (expiresAt <= now() / 1_000) return undefined;
    const { activeHours } = item;
    let [first, last] = [23, 0];
    for (const hour of activeHours instanceof Set ? (activeHours as ReadonlySet<number>) : NO_HOURS) {
      first = Math.min(first, hour);
      last = Math.max(last, hour);
    }
    return {
      ...parseSessionCounterSk(sk),
      counters: parseCounters(item),
      firstHour: hourOf(day, first),
      lastHour: hourOf(day, last),
    };
  };

  const readDay = async (accountId: string, day: Day, take: (counter: SessionCounter) => void): Promise<void> => {
    for await (const item of itemsIn(table, sessionPartition(accountId, day))) {
      const counter = parse(day, item);
      if (counter) take(counter);
    }
  };

  return {
    /**
     * The session counters of some days, the last day first.
     *
     * @returns the first day that was read: a later one than asked for where there were too many, or reading took too long
     */
    read: async (accountId: string, range: Bounds, take: (counter: SessionCounter) => void): Promise<Day> => {
      const startedAtMs = now();
      let found = 0;
      const count = (counter: SessionCounter) => {
        found += 1;
        take(counter);
      };
      const days = daysOf(range);
      let atOnce = 1;
      for (let next = days.splice(0, atOnce); next.length > 0; next = days.splice(0, atOnce)) {
        const before = found;
        await Promise.all(next.map((day) => readDay(accountId, day, count)));
        if (found >= MAX_COUNTERS || now() - startedAtMs > MAX_READ_MS) return next.at(-1) as Day;
        atOnce = found - before > FEW_COUNTERS ? 1 : Math.min(2 * atOnce, MAX_DAYS_AT_ONCE);
      }
      return range.from;
    },

    find: async (accountId: string, sessionId: string, range: Bounds): Promise<SessionCounter[]> => {
      const findIn = async (day: Day): Promise<SessionCounter[]> => {
        const counters: SessionCounter[] = [];
        const items = itemsUnder(table, { pk: sessionPartition(accountId, day), sk: sessionPrefix(sessionId) });
        for await (const item of items) {
          const counter = parse(day, item);
          if (counter) counters.push(counter);
        }
        return counters;
      };
      return (await pMap(daysOf(range), findIn, { concurrency: DAYS_OF_SESSION_AT_ONCE })).flat();
    },
  };
};

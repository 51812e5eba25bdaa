import { z } from 'zod';
import { type Key, refusedEventKey } from '../../lambda/data/table/keys.ts';
import { queryItems } from '../../lambda/data/table/read.ts';
import type { Table } from '../../lambda/data/table/table.ts';
import { type UsageEvent, usageEventSchema } from '../../lambda/domain/usage/usage-event.ts';
import { PoisonEventError, parseUsageEvent } from '../../lambda/usage-recorder/parse-event.ts';

const MEMBER = 'usageEvent';

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** The JSON object that ends a line, after whatever the runtime put before it; undefined where there is none. */
const objectAtEnd = (line: string): unknown => {
  const start = line.indexOf('{');
  const end = line.lastIndexOf('}');
  if (start === -1 || end < start) return undefined;
  const text = line.slice(start, end + 1);
  // Logs Insights exports CSV, which doubles quotes.
  return parseJson(text) ?? parseJson(text.replaceAll('""', '"'));
};

/** Values under the member `usageEvent`, however deep, also where JSON stands in a string; undefined for a line that is cut. */
const candidates = function* (value: unknown): Generator<unknown> {
  if (typeof value === 'string') {
    for (const line of value.split('\n').filter((each) => each.includes(MEMBER))) {
      const found = objectAtEnd(line);
      if (found === undefined) yield undefined;
      else yield* candidates(found);
    }
  } else if (Array.isArray(value)) {
    for (const member of value) yield* candidates(member);
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, member] of Object.entries(value)) {
      if (name === MEMBER) yield member;
      else yield* candidates(member);
    }
  }
};

/**
 * The usage events that the gateway could only log, each event of each request once, out of whatever shape logs are exported in: lines as
 * they were printed, lines with the runtime's words before them, the JSON of `aws logs filter-log-events`, CSV of Logs Insights.
 *
 * @returns also the number of lines that speak of an event that cannot be read: cut, or of another version
 * @see lambda/gateway/tracking/tracker.ts, which writes them
 */
export const findEvents = (texts: readonly string[]) => {
  const events = new Map<string, UsageEvent>();
  let unreadable = 0;
  for (const text of texts) {
    for (const candidate of candidates(parseJson(text) ?? text)) {
      const { success, data } = usageEventSchema.safeParse(candidate);
      if (success) events.set(`${data.requestId} ${data.kind}`, data);
      else unreadable += 1;
    }
  }
  return { events: [...events.values()], unreadable };
};

const stored = z.object({ pk: z.string(), sk: z.string(), event: z.string() });

/** The events that the sweep set aside on a day: those that can be read by now, and how many cannot. */
export const readRefused = async (table: Table, day: string) => {
  const readable: { readonly key: Key; readonly event: UsageEvent }[] = [];
  let unreadable = 0;
  for await (const item of queryItems(table, {
    KeyConditionExpression: 'pk = :pk',
    ExpressionAttributeValues: { ':pk': refusedEventKey(day, '').pk },
    ConsistentRead: true,
  })) {
    const { pk, sk, event } = stored.parse(item);
    try {
      readable.push({ key: { pk, sk }, event: parseUsageEvent(event) });
    } catch (error) {
      if (!(error instanceof PoisonEventError)) throw error;
      unreadable += 1;
    }
  }
  return { readable, unreadable };
};

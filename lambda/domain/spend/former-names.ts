/**
 * Names that version 0.1 wrote into events, records and counters, and what they are called now. Readers take both: an event may
 * wait in a queue for 14 days, a record for 400, a counter for ever.
 */
const formerNames: ReadonlyMap<string, string> = new Map([
  ['foldedRequests', 'overflowRequests'],
  ['unsettledRequests', 'unfinishedRequests'],
  ['foldLevel', 'overflowLevel'],
  ['extras', 'billableItems'],
  ['modelAnswered', 'modelServed'],
]);

const storedNames = new Map([...formerNames].map(([former, name]) => [name, former]));

/** What a stored name is called now. */
export const currentName = (stored: string): string => formerNames.get(stored) ?? stored;

/** A counter keeps the attribute name it was first written with: an update can add to one attribute only. */
export const storedCounterName = (name: string): string => storedNames.get(name) ?? name;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The members of an event or a record under the names they have now, those of its `reading` included. */
export const withCurrentNames = (members: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(members).map(([name, value]) => [
      currentName(name),
      name === 'reading' && isObject(value) ? withCurrentNames(value) : value,
    ]),
  );

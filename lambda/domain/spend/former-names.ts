/**
 * Names that version 0.1 wrote into events, records and counters, and their names now. Readers accept both: an event may wait in a queue
 * for 14 days, a record is kept for 400 days, and a day counter forever.
 */
const formerNames: ReadonlyMap<string, string> = new Map([
  ['foldedRequests', 'overflowRequests'],
  ['unsettledRequests', 'unfinishedRequests'],
  ['foldLevel', 'overflowLevel'],
  ['extras', 'billableItems'],
  ['modelAnswered', 'modelServed'],
]);

const storedNames = new Map([...formerNames].map(([former, name]) => [name, former]));

/** The name that a stored name has now. */
export const currentName = (stored: string): string => formerNames.get(stored) ?? stored;

/** The attribute name of a counter. It stays the one that was written first: an update can add to one attribute only. */
export const storedCounterName = (name: string): string => storedNames.get(name) ?? name;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The members of an event or a record under their names now, including those of its `reading`. */
export const withCurrentNames = (members: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(members).map(([name, value]) => [
      currentName(name),
      name === 'reading' && isObject(value) ? withCurrentNames(value) : value,
    ]),
  );

import { isRaw } from '../usage/raw.ts';

/**
 * Names that version 0.1 wrote into events, records, counters and alerts, and their names now. Readers accept both: an event may wait in
 * a queue for 14 days, a record is kept for 400 days, and a day counter forever.
 */
const formerNames: ReadonlyMap<string, string> = new Map([
  ['foldedRequests', 'overflowRequests'],
  ['unsettledRequests', 'unfinishedRequests'],
  ['foldLevel', 'overflowLevel'],
  ['extras', 'billableItems'],
  ['modelAnswered', 'modelServed'],
  ['observed', 'figure'],
  ['drivers', 'contributors'],
]);

const storedNames = new Map([...formerNames].map(([former, name]) => [name, former]));

/** The name that a stored name has now. */
export const currentName = (stored: string): string => formerNames.get(stored) ?? stored;

/** The stored name of a counter or an alert's member. The name that was written first stays: an update can add to one attribute only. */
export const storedName = (name: string): string => storedNames.get(name) ?? name;

const former = [...formerNames.keys()];
const hasFormerName = (members: object): boolean => former.some((name) => name in members);

/** The members of an event, a record or an alert, and of its `reading`, under their names now. The same object where none was renamed. */
export const withCurrentNames = (members: Record<string, unknown>): Record<string, unknown> => {
  const { reading } = members;
  if (!hasFormerName(members) && !(isRaw(reading) && hasFormerName(reading))) return members;
  return Object.fromEntries(
    Object.entries(members).map(([name, value]) => [
      currentName(name),
      name === 'reading' && isRaw(value) ? withCurrentNames(value) : value,
    ]),
  );
};

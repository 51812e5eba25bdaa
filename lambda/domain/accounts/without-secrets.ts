import { shownWebhookUrl } from '../alerts/channels.ts';

/** Members that are secrets, or hashes of secrets, under every name that the table uses. */
const SECRET_NAME = /(secret|hash|hashes|password)$/i;
/** The account key is a service key; the targets of a rule's channels are credentials. */
const SECRET_NAMES: ReadonlySet<string> = new Set(['accountKey', 'code', 'targets']);
/** How the table finds an item. */
const TABLE_NAMES: ReadonlySet<string> = new Set(['pk', 'sk', 'gsi1pk', 'gsi1sk', 'expiresAt']);

/** A stored item as its owner may read it: without secrets, at any depth, and without the table's own members. */
export const withoutSecrets = (item: Readonly<Record<string, unknown>>): Record<string, unknown> => {
  const copy = (value: unknown): unknown => {
    if (typeof value === 'string' && value.startsWith('https://')) return shownWebhookUrl(value);
    if (Array.isArray(value)) return value.map(copy);
    if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value;
    if (value instanceof Set) return [...value];
    return Object.fromEntries(
      Object.entries(value)
        .filter(([name]) => !SECRET_NAME.test(name) && !SECRET_NAMES.has(name))
        // The table has no order of members: the same item makes the same line.
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, member]) => [name, copy(member)]),
    );
  };
  const members = Object.entries(item).filter(([name]) => !TABLE_NAMES.has(name));
  return copy(Object.fromEntries(members)) as Record<string, unknown>;
};

import QuickLRU from 'quick-lru';
import { MINUTE_MS } from '../../domain/calendar/units.ts';
import { EXISTS, update } from '../table/actions.ts';
import type { Key } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import { tryWrite } from '../table/write.ts';

/** Each process writes at most once per item in this period. The API documents `lastUsedAt` as updated every few minutes. */
const INTERVAL_MS = 5 * MINUTE_MS;
const MAX_ENTRIES = 10_000;

/**
 * Records when service keys and API tokens were last used, on items that may have been removed a moment ago.
 *
 * @returns takes ISO 8601 UTC. Earlier than the stored time: no effect.
 */
export const openLastUse = (table: Table) => {
  const notedMs = new QuickLRU<string, number>({ maxSize: MAX_ENTRIES });
  return async (key: Key, usedAt: string): Promise<void> => {
    const [name, usedMs] = [key.pk + key.sk, Date.parse(usedAt)];
    if (usedMs - (notedMs.get(name) ?? Number.NEGATIVE_INFINITY) < INTERVAL_MS) return;
    const isLater = `${EXISTS} AND (attribute_not_exists(lastUsedAt) OR lastUsedAt < :usedAt)`;
    await tryWrite(table, update(key, 'SET lastUsedAt = :usedAt', isLater, { usedAt }));
    notedMs.set(name, usedMs);
  };
};

import QuickLRU from 'quick-lru';
import { MINUTE_MS } from '../../domain/calendar/units.ts';
import { EXISTS, update } from '../table/actions.ts';
import { accountServiceKeyKey } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import { tryWrite } from '../table/write.ts';

/** Each process writes at most once per key in this period. The API documents `lastUsedAt` as updated every few minutes. */
const INTERVAL_MS = 5 * MINUTE_MS;
const MAX_ENTRIES = 10_000;

/** Records when service keys were last used. */
export const openKeyUsage = (table: Table) => {
  const notedMs = new QuickLRU<string, number>({ maxSize: MAX_ENTRIES });
  return {
    /** @param usedAt ISO 8601 UTC. Earlier than the stored time: no effect. */
    note: async (accountId: string, keyId: string, usedAt: string): Promise<void> => {
      const usedMs = Date.parse(usedAt);
      if (usedMs - (notedMs.get(keyId) ?? Number.NEGATIVE_INFINITY) < INTERVAL_MS) return;
      const isLater = `${EXISTS} AND (attribute_not_exists(lastUsedAt) OR lastUsedAt < :usedAt)`;
      await tryWrite(
        table,
        update(accountServiceKeyKey(accountId, keyId), 'SET lastUsedAt = :usedAt', isLater, { usedAt }),
      );
      notedMs.set(keyId, usedMs);
    },
  };
};

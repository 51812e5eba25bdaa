import { openRollupMarks, type RollupMark } from '../../lambda/data/ledger/rollup-marks.ts';
import { openRollup } from '../../lambda/data/spend/rollup.ts';
import { ROLLUP_MARK_SHARDS } from '../../lambda/data/table/keys.ts';
import type { Table } from '../../lambda/data/table/table.ts';

/** The days and months whose summaries are due at a time, of all accounts. */
export const duePeriods = async (table: Table, dueMs: number): Promise<RollupMark[]> => {
  const found: RollupMark[] = [];
  for (let shard = 0; shard < ROLLUP_MARK_SHARDS; shard++)
    for await (const mark of openRollupMarks(table, () => dueMs).due(shard)) found.push(mark);
  return found;
};

/** Writes the summaries that are due, by default now. */
export const rollUpDue = async (table: Table, nowMs: number, dueMs = nowMs): Promise<void> => {
  for (const mark of await duePeriods(table, dueMs)) await openRollup(table, () => nowMs).rollUp(mark);
};

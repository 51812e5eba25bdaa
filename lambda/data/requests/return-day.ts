import pMap from 'p-map';
import { DAY_MS } from '../../domain/calendar/units.ts';
import type { Day } from '../../domain/calendar/utc.ts';
import { UnavailableError } from '../../domain/errors.ts';
import { put } from '../table/actions.ts';
import type { Table } from '../table/table.ts';
import { write } from '../table/write.ts';
import { type ObjectReader, readBlocks } from './day-file.ts';
import { mayHaveFile, openDayFiles } from './day-files.ts';
import { requestItem } from './request-item.ts';

/** A day that is priced again once may be priced again soon. */
const STAYS_MS = 7 * DAY_MS;
const WRITES_AT_ONCE = 32;
/** The time between two notes of its progress. */
const NOTED_BLOCKS = 20;

/**
 * Has the records of a day in the table for a week, so that they can be written: those that have left it come back from their file.
 * A run that ends anywhere goes on in the next.
 *
 * The returned function remembers the days that it has returned: open it for one run.
 *
 * @throws UnavailableError while another run moves the day
 */
export const openDayReturn = (table: Table, objects: ObjectReader, now: () => number = Date.now) => {
  const dayFiles = openDayFiles(table, now);
  const returned = new Set<string>();

  return async (accountId: string, day: Day): Promise<void> => {
    const id = `${accountId}#${day}`;
    if (!mayHaveFile(day, now()) || returned.has(id)) return;
    const entry = await dayFiles.find(accountId, day, true);
    if (entry) {
      const busy = new UnavailableError('The records of a day are being moved. Try again in some minutes.');
      // A run that is killed and never repeated leaves records in the table next to their file. The next move clears them.
      const held = await dayFiles.hold(entry, entry.file && now());
      if (!held) throw busy;
      let blocks = 0;
      for await (const records of held.file ? readBlocks(objects, held.file) : []) {
        blocks += 1;
        if (blocks <= held.returnedBlocks) continue;
        const kept = records.filter(({ expiresAt }) => expiresAt > now() / 1_000);
        await pMap(kept, (record) => write(table, put(requestItem(record))), { concurrency: WRITES_AT_ONCE });
        if (blocks % NOTED_BLOCKS === 0 && !(await dayFiles.noteReturned(held, blocks))) throw busy;
      }
      if (!(await dayFiles.release(held, { file: null, dueMs: now() + STAYS_MS }))) throw busy;
    }
    returned.add(id);
  };
};

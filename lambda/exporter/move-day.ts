import pMap from 'p-map';
import { requestPartitions, shardedMonths } from '../data/accounts/account-items.ts';
import { BLOCK_RECORDS, type DayFile, encodeDayFile, readBlocks } from '../data/requests/day-file.ts';
import { type DayFileEntry, leavesAt, type TakenDay } from '../data/requests/day-files.ts';
import { batchDelete, chunk, inBatches } from '../data/table/batch.ts';
import { itemsIn } from '../data/table/read.ts';
import { DAY_MS } from '../domain/calendar/units.ts';
import { boundsOf } from '../domain/calendar/utc.ts';
import { dayFileObjectKey, dayFilePrefix } from '../domain/object-keys.ts';
import { contributionOf } from '../domain/spend/contribution.ts';
import { addCounters, type Counters, isZero, subtractCounters } from '../domain/spend/counters.ts';
import type { RequestRecord } from '../domain/spend/request-record.ts';
import { countersOf, OutOfTimeError } from './export-day.ts';
import type { Exporting } from './open-exporting.ts';
import { openUpload } from './upload.ts';

/** The records of a day, or of its file, do not add up to its counters. The day stays where it is. */
class DayFileMismatchError extends Error {
  override readonly name = 'DayFileMismatchError';
}

/** Whoever began to read the day from the table before it had a file has ended by then. */
const READERS_MS = DAY_MS;
/** Deletions of 100 records. */
const DELETIONS_AT_ONCE = 8;
const DELETED_AT_ONCE = 100;

/**
 * Takes the next step of a day: its records are written to a file that is read back and adds up to the day's counters, and from then on
 * that is where they are read; a day later they leave the table; when all have expired, the file goes. While a step lasts nobody
 * can write records of the day. A run that ends anywhere leaves a day that the next one goes on with.
 *
 * The returned function takes `isLate`, true where the run must end.
 *
 * @returns `kept` where some records have expired, so that nothing tells whether a file would be complete: the rest stay in the table
 * @throws DayFileMismatchError, OutOfTimeError
 */
export const moveDay = (exporting: Exporting, blockRecords = BLOCK_RECORDS) => {
  const { table, dayFiles, accountTerms, requests, spendCounters, objects, tableDays, now } = exporting;

  /** Difference of the day's counters and the records. */
  const missingOf = async ({ accountId, day }: DayFileEntry, sums: Counters): Promise<Counters> =>
    subtractCounters(await countersOf(spendCounters, accountId, day), sums);
  const add = (sums: Counters, record: RequestRecord) => addCounters(sums, contributionOf(record).counters);

  /** Null where some records have expired. */
  const writeFile = async (held: TakenDay, isLate: () => boolean): Promise<DayFile | null> => {
    const { accountId, day } = held;
    const key = dayFileObjectKey(accountId, day, held.holder);
    const upload = openUpload(objects, key, 'application/gzip');
    try {
      const encoder = encodeDayFile();
      let sums: Counters = {};
      const records = requests.all(accountId, boundsOf(day), { consistent: true });
      for await (const block of inBatches(records, blockRecords)) {
        if (isLate()) throw new OutOfTimeError('The day is not written yet.');
        sums = block.reduce(add, sums);
        await upload.write(encoder.block(block));
      }
      const missing = await missingOf(held, sums);
      if (!isZero(missing) && (missing.requests ?? 0) <= 0) throw new DayFileMismatchError('The records differ.');
      const { body, file } = encoder.end();
      if (!isZero(missing) || file.requests === 0) {
        await upload.abort();
        return null;
      }
      await upload.write(body);
      await upload.finish();
      const complete = { key, ...file };
      await verify(held, complete, isLate);
      return complete;
    } catch (error) {
      // An upload that is not aborted here, the bucket removes after two days.
      await upload.abort().catch(() => {});
      throw error;
    }
  };

  /** Reads a file as its readers will. */
  const verify = async (held: TakenDay, file: DayFile, isLate: () => boolean): Promise<void> => {
    let sums: Counters = {};
    let read = 0;
    for await (const records of readBlocks(objects, file)) {
      if (isLate()) throw new OutOfTimeError('The file is not verified yet.');
      sums = records.reduce(add, sums);
      read += records.length;
    }
    if (read === file.requests && isZero(await missingOf(held, sums))) return;
    throw new DayFileMismatchError('The file differs.');
  };

  const clear = async ({ accountId, day }: DayFileEntry, isLate: () => boolean): Promise<void> => {
    for (const pk of requestPartitions(accountId, day, await shardedMonths(table, accountId))) {
      const remove = (items: readonly Record<string, unknown>[]) =>
        batchDelete(
          table,
          items.map(({ sk }) => ({ pk, sk: String(sk) })),
        );
      const items = itemsIn(table, pk, { ProjectionExpression: 'sk' });
      for await (const some of inBatches(items, DELETIONS_AT_ONCE * DELETED_AT_ONCE)) {
        if (isLate()) throw new OutOfTimeError('The day is not out of the table yet.');
        await pMap(chunk(some, DELETED_AT_ONCE), remove, { concurrency: DELETIONS_AT_ONCE });
      }
    }
  };

  const step = async (held: TakenDay, isLate: () => boolean) => {
    const { accountId, day, file } = held;
    if (file && file.expiresAt * 1_000 < now()) {
      await objects.deleteAll(dayFilePrefix(accountId, day));
      await dayFiles.remove(held);
      return 'expired';
    }
    if (file) {
      await clear(held, isLate);
      await dayFiles.release(held, { dueMs: (file.expiresAt + 1) * 1_000 });
      return 'cleared';
    }
    const written = await writeFile(held, isLate);
    if (written === null) {
      await dayFiles.remove(held);
      return 'kept';
    }
    return (await dayFiles.release(held, { file: written, dueMs: now() + READERS_MS })) ? 'moved' : undefined;
  };

  return async (entry: DayFileEntry, isLate: () => boolean) => {
    if (!entry.file && (tableDays === null || leavesAt(entry.day, tableDays) > now())) return undefined;
    if ((await accountTerms.find(entry.accountId)).isDeleted) return undefined;
    const held = await dayFiles.hold(entry);
    if (!held) return undefined;
    try {
      return await step(held, isLate);
    } catch (error) {
      await dayFiles.release(held).catch(() => {});
      throw error;
    }
  };
};

import pMap from 'p-map';
import { BatchReadError } from '../data/table/batch.ts';
import { UnreadableItemError } from '../data/table/read.ts';

const AT_ONCE = 16;

/**
 * Reads what belongs to some values in one batch. Where an item of the batch is unreadable or throttled, reads each value alone, so that
 * the item fails its own value only. While the table is down, all values fail at once.
 *
 * @returns why each value failed that could not be read
 */
export const readApart = async <T>(
  values: readonly T[],
  read: (values: readonly T[]) => Promise<void>,
): Promise<ReadonlyMap<T, unknown>> => {
  const failed = new Map<T, unknown>();
  try {
    await read(values);
  } catch (error) {
    if (!(error instanceof UnreadableItemError || error instanceof BatchReadError))
      return new Map(values.map((value) => [value, error]));
    const readOne = (value: T) => read([value]).catch((error: unknown) => void failed.set(value, error));
    await pMap(values, readOne, { concurrency: AT_ONCE });
  }
  return failed;
};

import pMap from 'p-map';

const AT_ONCE = 16;

/**
 * Reads what belongs to some values in one batch. Where that fails, reads it for each value alone, so that an item that is unreadable or
 * throttled fails its own value only.
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
  } catch {
    const readOne = (value: T) => read([value]).catch((error: unknown) => void failed.set(value, error));
    await pMap(values, readOne, { concurrency: AT_ONCE });
  }
  return failed;
};

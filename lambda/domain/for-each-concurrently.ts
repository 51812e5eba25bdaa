/**
 * Does the work for each value, a few at a time, and waits for all of it. Values are taken one by one as there is room, so a
 * long stream of them is never held whole.
 *
 * @throws what the work throws first; work under way goes on to its end before
 */
export const forEachConcurrently = async <T>(
  values: AsyncIterable<T> | Iterable<T>,
  atOnce: number,
  work: (value: T) => Promise<void>,
): Promise<void> => {
  const underWay = new Set<Promise<void>>();
  const failures: unknown[] = [];
  for await (const value of values) {
    if (failures.length > 0) break;
    const task: Promise<void> = work(value)
      .catch((error: unknown) => {
        failures.push(error);
      })
      .finally(() => underWay.delete(task));
    underWay.add(task);
    if (underWay.size >= atOnce) await Promise.race(underWay);
  }
  await Promise.all(underWay);
  if (failures.length > 0) throw failures[0];
};

/** Maps with at most `limit` calls under way; results in the order of the values. Rejects with the first error. */
export const mapConcurrently = async <T, R>(
  values: readonly T[],
  limit: number,
  map: (value: T) => Promise<R>,
): Promise<R[]> => {
  const results = new Array<R>(values.length);
  let next = 0;
  const work = async () => {
    for (let index = next++; index < values.length; index = next++) results[index] = await map(values[index] as T);
  };
  await Promise.all(Array.from({ length: Math.min(limit, values.length) }, work));
  return results;
};

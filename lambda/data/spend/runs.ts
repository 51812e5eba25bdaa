/** Groups consecutive values for which the test gives the same result. */
export const runs = <T>(
  values: readonly T[],
  test: (value: T) => boolean,
): { readonly is: boolean; readonly first: T; readonly last: T }[] => {
  const found: { is: boolean; first: T; last: T }[] = [];
  for (const value of values) {
    const is = test(value);
    const run = found.at(-1);
    if (run?.is === is) run.last = value;
    else found.push({ is, first: value, last: value });
  }
  return found;
};

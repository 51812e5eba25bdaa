/** The change against an earlier amount: 0.5 for half as much again. Null where there is nothing to compare with. */
export const relativeChange = (now: number | null, before: number | null): number | null =>
  now === null || before === null || before === 0 ? null : now / before - 1;

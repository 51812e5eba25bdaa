/**
 * A sum of known costs. Null where all that is known is that it is not less than $0: there are costs that are not known, and no known one is
 * above $0. So 99 requests of unknown cost and a free one are not "0".
 */
export const knownCost = (nanoUsd: number, unknownCosts: number): number | null =>
  nanoUsd === 0 && unknownCosts > 0 ? null : nanoUsd;

/** The same of costs, of which those that are not known are null. */
export const sumOfKnown = (costs: readonly (number | null)[]): number | null => {
  const sum = costs.reduce<number>((all, cost) => all + (cost ?? 0), 0);
  return knownCost(sum, Number(costs.includes(null)));
};

/** The change against an earlier amount: 0.5 for half as much again. Null where there is nothing to compare with. */
export const relativeChange = (now: number | null, before: number | null): number | null =>
  now === null || before === null || before === 0 ? null : now / before - 1;

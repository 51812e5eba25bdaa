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

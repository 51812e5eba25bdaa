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

/** Requests that a sum does not include and may have to: of `(other)`, or with unknown values of a filter. */
export interface MayAlsoMatch {
  readonly requests: number;
  /** As costOf. */
  readonly costNanoUsd: number | null;
  /** Those whose cost is unknown. */
  readonly unpricedRequests: number;
}

/** `1 more request for $2 and the unknown cost of 3`, in the reader's numbers and currency. */
export const moreRequestsText = (
  { requests, costNanoUsd, unpricedRequests }: MayAlsoMatch,
  count: (count: number) => string,
  money: (nanoUsd: number) => string,
): string => {
  const more = `${count(requests)} more ${requests === 1 ? 'request' : 'requests'}`;
  if (costNanoUsd === null) return `${more} of unknown cost`;
  const unknown = unpricedRequests > 0 ? ` and the unknown cost of ${count(unpricedRequests)}` : '';
  return `${more} for ${money(costNanoUsd)}${unknown}`;
};

/** The change against an earlier amount: 0.5 for half as much again. Null where there is nothing to compare with. */
export const relativeChange = (now: number | null, before: number | null): number | null =>
  now === null || before === null || before === 0 ? null : now / before - 1;

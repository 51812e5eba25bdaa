/** What a report says of a sum. */
interface Sum {
  readonly requests: number;
  readonly costNanoUsd: number | null;
  readonly unpricedRequests: number;
}

const NOTHING: Sum = { requests: 0, costNanoUsd: 0, unpricedRequests: 0 };

/** A sum before and now. The change of a cost is not known where one of the two is not. */
const changeOf = (before: Sum, now: Sum) => ({
  costBeforeNanoUsd: before.costNanoUsd,
  costNanoUsd: now.costNanoUsd,
  costChangeNanoUsd:
    before.costNanoUsd === null || now.costNanoUsd === null ? null : now.costNanoUsd - before.costNanoUsd,
  requestsBefore: before.requests,
  requests: now.requests,
  unpricedRequestsBefore: before.unpricedRequests,
  unpricedRequests: now.unpricedRequests,
});

interface Report<G extends Sum> {
  readonly totals: Sum;
  readonly groups: readonly G[];
}

/** A change that is not known may be the largest. */
const size = ({ costChangeNanoUsd }: { readonly costChangeNanoUsd: number | null }): number =>
  costChangeNanoUsd === null ? Number.POSITIVE_INFINITY : Math.abs(costChangeNanoUsd);

/**
 * How spend changed from one period to another, and in which groups: the largest change first.
 *
 * @param namesOf the names of a group, the same in both reports
 */
export const spendChange = <G extends Sum, N extends object>(
  before: Report<G>,
  now: Report<G>,
  namesOf: (group: G) => N,
) => {
  const keyOf = (group: G) => JSON.stringify(namesOf(group));
  const groupsBefore = new Map(before.groups.map((group) => [keyOf(group), group]));
  const groupsNow = new Map(now.groups.map((group) => [keyOf(group), group]));
  const groups = [...new Map([...groupsBefore, ...groupsNow])].map(([key, group]) => ({
    ...namesOf(group),
    ...changeOf(groupsBefore.get(key) ?? NOTHING, groupsNow.get(key) ?? NOTHING),
  }));
  return {
    totals: changeOf(before.totals, now.totals),
    groups: groups.sort((left, right) => (size(left) === size(right) ? 0 : size(right) - size(left))),
  };
};

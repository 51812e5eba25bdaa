import { costEffects } from './cost-effects.ts';
import { addCounters, type Counters, requireExact, type SpendCounter, sumMap } from './counters.ts';
import type { SpendDimensionName } from './dimensions.ts';
import { type DisplayCurrency, displayCostOf } from './display-currency.ts';
import type { SpendFilter } from './spend-question.ts';
import {
  costOf,
  type Group,
  groupKey,
  hidesNames,
  matchOf,
  mayAlsoMatchOf,
  namesOf,
  tokensOf,
} from './spend-report.ts';

interface ChangeQuery {
  readonly groupBy: readonly SpendDimensionName[];
  readonly filter: SpendFilter;
}

const NOTHING: Counters = {};

/**
 * Adds up one of the two periods of a change: by group, and by provider and model.
 *
 * @param spendCounters separate by the groups, the filter, provider and model
 */
export const periodSums = async (spendCounters: AsyncIterable<SpendCounter>, { groupBy, filter }: ChangeQuery) => {
  const groups = sumMap();
  const models = sumMap();
  const mayAlsoMatch = sumMap();
  let mayLack = false;
  let hasOther = false;
  for await (const { dimensions, counters } of spendCounters) {
    const match = matchOf(dimensions, filter);
    if (match === 'fails') continue;
    if (match !== 'passes') {
      mayAlsoMatch.add('all', counters);
      mayLack ||= match === 'unknown';
      continue;
    }
    hasOther ||= hidesNames(dimensions, groupBy);
    groups.add(groupKey(dimensions, groupBy), counters);
    models.add(JSON.stringify([dimensions.provider, dimensions.model]), counters);
  }
  const total = [...models.sums.values()].reduce(addCounters, NOTHING);
  requireExact(total);
  return {
    total,
    groups: groups.sums,
    models: models.sums,
    mayLack,
    mayAlsoMatch: mayAlsoMatchOf(mayAlsoMatch.sums.get('all')),
    isComplete: mayAlsoMatch.sums.size === 0 && !hasOther,
  };
};

type PeriodSums = Awaited<ReturnType<typeof periodSums>>;

/** A sum before and now. The change of a cost is not known where one of the two is not. */
const changeOf = (
  before: Counters,
  now: Counters,
  currency: DisplayCurrency | null,
  mayLack: { readonly before?: boolean; readonly now?: boolean } = {},
) => {
  const [costBefore, cost] = [costOf(before, mayLack.before), costOf(now, mayLack.now)];
  return {
    costBeforeNanoUsd: costBefore,
    costNanoUsd: cost,
    costChangeNanoUsd: costBefore === null || cost === null ? null : cost - costBefore,
    requestsBefore: before.requests ?? 0,
    requests: now.requests ?? 0,
    tokensBefore: tokensOf(before),
    tokens: tokensOf(now),
    unpricedRequestsBefore: before.unpricedRequests ?? 0,
    unpricedRequests: now.unpricedRequests ?? 0,
    ...(currency && {
      displayCostBefore: displayCostOf(before, costBefore, currency),
      displayCost: displayCostOf(now, cost, currency),
    }),
  };
};
type Change = ReturnType<typeof changeOf>;

/** A change that is not known may be the largest. */
const size = ({ costChangeNanoUsd }: Change): number =>
  costChangeNanoUsd === null ? Number.POSITIVE_INFINITY : Math.abs(costChangeNanoUsd);

const presenceOf = ({ requestsBefore, requests }: Change) =>
  requestsBefore === 0 ? ('new' as const) : requests === 0 ? ('vanished' as const) : ('both' as const);

const pairs = (before: ReadonlyMap<string, Counters>, now: ReadonlyMap<string, Counters>) =>
  [...new Set([...now.keys(), ...before.keys()])].map((key) => ({
    key,
    before: before.get(key) ?? NOTHING,
    now: now.get(key) ?? NOTHING,
  }));

/**
 * How spend changed from one period to another, in which groups (the largest change first), and why: see costEffects. The effects are
 * those of models, whatever the groups are, so they are the same in every table of the same change. They are null where the change is.
 *
 * @param limit how many groups are named at most
 * @param currency in which costs are shown, too; the counters were read with its rates
 * @throws CounterOverflowError
 */
export const spendChange = (
  before: PeriodSums,
  now: PeriodSums,
  groupBy: readonly SpendDimensionName[],
  limit: number,
  currency: DisplayCurrency | null = null,
) => {
  const totals = changeOf(before.total, now.total, currency, { before: before.mayLack, now: now.mayLack });
  const effects = totals.costChangeNanoUsd === null ? null : costEffects(pairs(before.models, now.models));
  const ranked = pairs(before.groups, now.groups)
    .map((pair) => ({ ...pair, change: changeOf(pair.before, pair.now, currency) }))
    .sort(
      (left, right) =>
        (size(left.change) === size(right.change) ? 0 : size(right.change) - size(left.change)) ||
        right.change.requests - left.change.requests ||
        (left.key < right.key ? -1 : 1),
    );
  const others = ranked.slice(limit);
  const sum = (name: 'before' | 'now') => others.map((each) => each[name]).reduce(addCounters, NOTHING);
  return {
    totals,
    effects,
    groups:
      groupBy.length === 0
        ? []
        : ranked
            .slice(0, limit)
            .map(({ key, change }): Group & Change & { presence: ReturnType<typeof presenceOf> } => ({
              ...namesOf(key, groupBy),
              presence: presenceOf(change),
              ...change,
            })),
    otherGroups:
      others.length === 0 || groupBy.length === 0
        ? null
        : { groups: others.length, ...changeOf(sum('before'), sum('now'), currency) },
    isComplete: before.isComplete && now.isComplete,
  };
};

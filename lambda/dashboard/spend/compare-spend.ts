import { comparedPeriods, type Period } from '../../domain/calendar/compared-periods.ts';
import { periodSums, spendChange } from '../../domain/spend/spend-change.ts';
import { trackingGaps } from '../../domain/spend/tracking-gaps.ts';
import type { Implementation } from '../../http/operation.ts';
import type { compareSpend as operation } from './operations.ts';
import { ifExact, rejectTooLarge, type SpendDependencies } from './read-spend.ts';
import { questionOf, withApiNames } from './spend-query.ts';

/** Why spend changed between two periods. What the API, MCP tools and pages show of a change is read here. */
export const compareSpend =
  ({ readCounters, readTrackingGaps, now, ...dependencies }: SpendDependencies): Implementation<typeof operation> =>
  async ({ caller: { accountId }, query }) => {
    const periods = comparedPeriods(query, now());
    const asked = await questionOf(dependencies, accountId, query);
    const { filter, groupBy, currency } = asked;
    const question = { ...asked, groupBy: [...groupBy, 'provider', 'model'] as const };
    const read = async (period: Period) => {
      const counters = readCounters({ ...question, range: { granularity: 'day', ...period } });
      const [sums, reports] = await Promise.all([
        ifExact(periodSums(counters, { groupBy, filter }), rejectTooLarge),
        readTrackingGaps(accountId, period),
      ]);
      const { mayAlsoMatch } = sums;
      return { sums, shown: { ...period, mayAlsoMatch, untrackedRequests: trackingGaps(reports).requests } };
    };
    const [current, before] = await Promise.all([read(periods.now), read(periods.before)]);
    const change = await ifExact(
      (async () => spendChange(before.sums, current.sums, groupBy, query.limit, currency))(),
      rejectTooLarge,
    );
    return {
      ...current.shown,
      before: before.shown,
      cost: query.cost,
      groupBy: [...new Set(query.groupBy)],
      ...change,
      groups: change.groups.map(withApiNames),
    };
  };

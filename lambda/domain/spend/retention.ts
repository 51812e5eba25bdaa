import { plans } from '../billing/plans.ts';
import { DAY_MS } from '../calendar/units.ts';

/** The retention of a record starts when it is recorded, which may be two weeks after the request. */
const LONGEST_KEPT_MS = (Math.max(...Object.values(plans).map((plan) => plan.requestRetentionDays)) + 15) * DAY_MS;

/** Cuts a range to the days that can have records. Each day costs a read, and a range may cover thousands of years. */
export const keptRange = ({ from, to }: { readonly from: string; readonly to: string }, now: Date) => {
  const iso = (ms: number) => new Date(ms).toISOString();
  const [earliest, latest] = [iso(now.getTime() - LONGEST_KEPT_MS), iso(now.getTime() + DAY_MS)];
  return { from: from < earliest ? earliest : from, to: to > latest ? latest : to };
};

import { type PlanName, plans } from './plans.ts';

/** Percentages of the plan's tracked requests at which the account's users get a notice. */
const noticePercents = [100, 80] as const;

export interface PlanNotice {
  readonly percent: (typeof noticePercents)[number];
  readonly limit: number;
}

const thresholdOf = (limit: number, percent: number): number => Math.ceil((limit * percent) / 100);

/** The notice for the highest percentage reached; null below the first. */
export const planNotice = (plan: PlanName, trackedRequests: number): PlanNotice | null => {
  const limit = plans[plan].trackedRequests;
  const percent = noticePercents.find((each) => trackedRequests >= thresholdOf(limit, each));
  return percent === undefined ? null : { percent, limit };
};

/** Usage is read more often when the next notice is near. */
export const isNearNotice = (plan: PlanName, trackedRequests: number): boolean => {
  const limit = plans[plan].trackedRequests;
  const next = [...noticePercents].reverse().find((percent) => trackedRequests < thresholdOf(limit, percent));
  return next !== undefined && trackedRequests >= 0.85 * thresholdOf(limit, next);
};

import { type PlanName, plans } from './plans.ts';

/** Shares of the billing period's tracked requests at which an account's users are told, in percent. */
const noticePercents = [100, 80] as const;

export interface PlanNotice {
  readonly percent: (typeof noticePercents)[number];
  readonly limit: number;
}

const thresholdOf = (limit: number, percent: number): number => Math.ceil((limit * percent) / 100);

/** The highest share reached; null below the first. */
export const planNotice = (plan: PlanName, trackedRequests: number): PlanNotice | null => {
  const limit = plans[plan].trackedRequests;
  const percent = noticePercents.find((each) => trackedRequests >= thresholdOf(limit, each));
  return percent === undefined ? null : { percent, limit };
};

/** Where a share is near, usage is looked at more often. */
export const isNearNotice = (plan: PlanName, trackedRequests: number): boolean => {
  const limit = plans[plan].trackedRequests;
  const next = [...noticePercents].reverse().find((percent) => trackedRequests < thresholdOf(limit, percent));
  return next !== undefined && trackedRequests >= 0.85 * thresholdOf(limit, next);
};

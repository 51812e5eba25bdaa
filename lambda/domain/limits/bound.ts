import * as z from 'zod/mini';
import { DAY_MS, MINUTE_MS } from '../calendar/units.ts';
import { type Hour, hourOf } from '../calendar/utc.ts';

const byHour = z.record(z.string(), z.number());

const budgetMeasuresSchema = z.object({
  periodId: z.string(),
  /** The current minute since 1970, what was used when it began, and what is used now. */
  minute: z.int(),
  usedBeforeNanoUsd: z.number(),
  usedNanoUsd: z.number(),
  /** The most that was spent in a minute. */
  peakNanoUsd: byHour,
});

export const measuresSchema = z.object({
  /** The longest time from a request's start until it was judged, in milliseconds. */
  lagMs: byHour,
  budgets: z.record(z.string(), budgetMeasuresSchema),
});

/** Measures of an account's budgets in the last day, by hour. */
export type Measures = z.infer<typeof measuresSchema>;
type BudgetMeasures = z.infer<typeof budgetMeasuresSchema>;

export const NO_MEASURES: Measures = { lagMs: {}, budgets: {} };

export interface UseSample {
  readonly budgetId: string;
  readonly periodId: string;
  readonly usedNanoUsd: number;
}

const withPeak = (peaks: Readonly<Record<Hour, number>>, now: Date, value: number): Record<Hour, number> => {
  const oldest = hourOf(new Date(now.getTime() - DAY_MS).toISOString());
  const hour = hourOf(now.toISOString());
  const recent = Object.fromEntries(Object.entries(peaks).filter(([each]) => each >= oldest));
  return value > (recent[hour] ?? 0) ? { ...recent, [hour]: value } : recent;
};

const withSample = (before: BudgetMeasures | undefined, { periodId, usedNanoUsd }: UseSample, now: Date) => {
  const minute = Math.floor(now.getTime() / MINUTE_MS);
  if (before?.periodId !== periodId)
    // A period begins with nothing used; what a new budget finds was spent before.
    return {
      periodId,
      minute,
      usedBeforeNanoUsd: before ? 0 : usedNanoUsd,
      usedNanoUsd,
      peakNanoUsd: before?.peakNanoUsd ?? {},
    };
  // Spend since the last sample counts as spent in this minute: too much rather than too little.
  const usedBeforeNanoUsd = before.minute === minute ? before.usedBeforeNanoUsd : before.usedNanoUsd;
  const peakNanoUsd = withPeak(before.peakNanoUsd, now, usedNanoUsd - usedBeforeNanoUsd);
  return { periodId, minute, usedBeforeNanoUsd, usedNanoUsd, peakNanoUsd };
};

/** @param lagMs of a request that was judged now */
export const withMeasures = (
  { lagMs: lags, budgets }: Measures,
  samples: readonly UseSample[],
  now: Date,
  lagMs = 0,
): Measures => ({
  lagMs: withPeak(lags, now, lagMs),
  budgets: {
    // A deleted budget has no more samples, and accounts make and delete any number.
    ...Object.fromEntries(
      Object.entries(budgets).filter(([, { minute }]) => minute * MINUTE_MS >= now.getTime() - DAY_MS),
    ),
    ...Object.fromEntries(
      samples.map((sample) => [sample.budgetId, withSample(budgets[sample.budgetId], sample, now)]),
    ),
  },
});

/** Until gateways read the blocks again. */
const CACHE_MS = 5_000;
/** The queue, the judging of an account every two seconds, and its run: where nothing was measured. */
const USUAL_LAG_MS = 9_000;

/** The most that may be spent past a budget that is enforced when its requests are recorded. */
export interface Bound {
  readonly nanoUsd: number;
  /** From a request's start until gateways know what it cost. */
  readonly lagMs: number;
  readonly peakNanoUsdPerMinute: number;
}

const highest = (values: Readonly<Record<Hour, number>>): number => Math.max(0, ...Object.values(values));

/**
 * Requests that start within the lag may pass after the budget is used up, and those in flight are among them: the lag begins with a
 * request's start. As much as in the busiest minutes of the last day; one minute more, since the lag may begin within one.
 *
 * @returns null where nothing was spent since measuring began
 */
export const boundOf = ({ lagMs: lags, budgets }: Measures, budgetId: string): Bound | null => {
  const peak = highest(budgets[budgetId]?.peakNanoUsd ?? {});
  if (peak === 0) return null;
  const lagMs = (highest(lags) || USUAL_LAG_MS) + CACHE_MS;
  const nanoUsd = Math.min(peak * (Math.ceil(lagMs / MINUTE_MS) + 1), Number.MAX_SAFE_INTEGER);
  return { nanoUsd, lagMs, peakNanoUsdPerMinute: peak };
};

/** What a rule looks at: calendar periods in UTC. Weeks begin on Monday (ISO 8601). */
export const periodNames = ['hourly', 'daily', 'weekly', 'monthly'] as const;
export type PeriodName = (typeof periodNames)[number];

export interface Period {
  readonly name: PeriodName;
  /** First instant, ISO 8601. */
  readonly start: string;
  /** First instant after it, ISO 8601. */
  readonly end: string;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** 1970-01-05 was a Monday. */
const FIRST_MONDAY_MS = 4 * DAY_MS;
const WEEK_MS = 7 * DAY_MS;

const lengthMs = { hourly: HOUR_MS, daily: DAY_MS, weekly: WEEK_MS } as const;

const period = (name: PeriodName, startMs: number, endMs: number): Period => ({
  name,
  start: new Date(startMs).toISOString(),
  end: new Date(endMs).toISOString(),
});

/** The period an instant lies in. */
export const periodAt = (name: PeriodName, at: Date): Period => {
  if (name === 'monthly') {
    const [year, month] = [at.getUTCFullYear(), at.getUTCMonth()];
    return period(name, Date.UTC(year, month, 1), Date.UTC(year, month + 1, 1));
  }
  const length = lengthMs[name];
  const offset = name === 'weekly' ? FIRST_MONDAY_MS : 0;
  const startMs = Math.floor((at.getTime() - offset) / length) * length + offset;
  return period(name, startMs, startMs + length);
};

/** The period right before. */
export const periodBefore = ({ name, start }: Period): Period => periodAt(name, new Date(Date.parse(start) - 1));

/** How long after its end a period is still judged: usage may be recorded late. */
const LATE_MS: Record<PeriodName, number> = {
  hourly: 3 * HOUR_MS,
  daily: 2 * DAY_MS,
  weekly: 2 * DAY_MS,
  monthly: 2 * DAY_MS,
};

/** The periods to judge now: the present one, and those that ended a short while ago. Latest first. */
export const periodsToJudge = (name: PeriodName, now: Date): Period[] => {
  const periods = [periodAt(name, now)];
  for (let last = periodBefore(periods[0] as Period); now.getTime() - Date.parse(last.end) < LATE_MS[name]; ) {
    periods.push(last);
    last = periodBefore(last);
  }
  return periods;
};

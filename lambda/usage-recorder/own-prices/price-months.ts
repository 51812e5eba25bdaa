import { openOwnPrices } from '../../data/accounts/own-prices.ts';
import { requestExport } from '../../data/exports/day-exports.ts';
import { noObjects, type ObjectReader } from '../../data/requests/day-file.ts';
import { openRequests } from '../../data/requests/requests.ts';
import { openSpend } from '../../data/spend/spend.ts';
import { inBatches } from '../../data/table/batch.ts';
import type { Table } from '../../data/table/table.ts';
import { write } from '../../data/table/write.ts';
import { addDays, dayOf, type Month, monthOf } from '../../domain/calendar/utc.ts';
import { type AccountPrices, basePriceOf } from '../../domain/own-prices/apply-prices.ts';
import { addToMonth, type MonthSums, monthFactors } from '../../domain/own-prices/month-factors.ts';
import { holdsBetween, type OwnPrices, type PriceJob } from '../../domain/own-prices/own-price.ts';
import {
  CLOSE_AFTER_MS,
  dailyJob,
  endOfMonth,
  monthBegun,
  monthPricesOf,
  startOf,
} from '../../domain/own-prices/price-job.ts';
import type { PriceableRequest } from '../../domain/price/request-rates.ts';
import { isPriceable } from '../../domain/spend/contribution.ts';
import { addCounters, type Counters } from '../../domain/spend/counters.ts';
import type { RequestRecord } from '../../domain/spend/request-record.ts';
import type { PricedUsage } from '../../domain/usage/usage.ts';
import { listPriceOf, openRepricer } from '../reprice.ts';
import { BATCH, beganLater } from './count-values.ts';

const earlier = (a: string, b: string): string => (a < b ? a : b);

/** Does a part of a job. @returns the prices with how far it is */
type Step = (
  accountId: string,
  own: OwnPrices,
  job: PriceJob,
  run: {
    /** True where the rest must wait for the next run. */
    readonly isLate: () => boolean;
    /** Ends the run with an error, once its progress is stored. */
    readonly interrupt: (error: unknown) => void;
  },
) => Promise<OwnPrices>;

/**
 * Brings the costs of an account in line with its own prices: adds up the months that volumes, commitments and credits depend on, and
 * prices their requests again. The work is a job that is kept after each step, so that any run continues it.
 */
export const openMonthPricing = (
  table: Table,
  {
    price,
    objects = noObjects,
    now = () => new Date(),
  }: {
    readonly price: (request: PriceableRequest) => PricedUsage;
    readonly objects?: ObjectReader;
    readonly now?: () => Date;
  },
) => {
  const store = openOwnPrices(table);
  const requests = openRequests(table, () => now().getTime(), objects);
  const reprice = openRepricer(table, price, objects, () => now().getTime());
  const spend = openSpend(table);

  /** Sums of a month's requests by its counters, at list prices: own prices do not change it. */
  const countedIn = async (accountId: string, month: Month): Promise<string> => {
    let sum: Counters = {};
    const range = { granularity: 'month', from: startOf(month), to: endOfMonth(month) } as const;
    const question = { accountId, range, groupBy: [], cost: 'list' } as const;
    for await (const { counters } of spend.read(question)) sum = addCounters(sum, counters);
    return JSON.stringify(Object.entries(sum).sort(([a], [b]) => (a < b ? -1 : 1)));
  };

  /**
   * Goes back through the requests of a month, from `doneFrom` on, until it is late.
   *
   * @param visit false: its records must be taken again
   * @returns from when on they are done; null at the month's start
   */
  const walk = async (
    accountId: string,
    { month, doneFrom, until }: { readonly month: Month; readonly doneFrom: string | null; readonly until: string },
    visit: (records: readonly RequestRecord[]) => Promise<boolean>,
    isLate: () => boolean,
  ): Promise<string | null> => {
    const range = { from: startOf(month), to: doneFrom ?? earlier(endOfMonth(month), until) };
    if (range.from >= range.to) return null;
    let reached = range.to;
    for await (const batch of inBatches(requests.all(accountId, range), BATCH, beganLater)) {
      if (reached !== range.to && isLate()) return reached;
      if (!(await visit(batch))) return reached;
      reached = batch.at(-1)?.startedAt ?? reached;
    }
    return null;
  };

  const addRecord = (sums: MonthSums, record: RequestRecord, accountPrices: AccountPrices): void => {
    if (!isPriceable(record)) return;
    const base = basePriceOf(record, listPriceOf(record, price), accountPrices, price);
    if (base) addToMonth(sums, base);
  };

  /**
   * Has the days exported again that have rows of commitments, whose month was added up: where prices changed or the month ended, any day,
   * else the day before, on which a commitment began. A day without requests is exported for this alone.
   */
  const exportCommitments = async (accountId: string, month: Month, own: OwnPrices, isWhole: boolean) => {
    const today = dayOf(new Date(now().getTime() - CLOSE_AFTER_MS).toISOString());
    const prices = monthPricesOf(own.prices, month).filter(({ terms }) => terms.kind === 'commitment');
    const isGone = Object.keys(own.months[month]?.factors ?? {}).some(
      (priceId) => !own.prices.some((price) => price.priceId === priceId),
    );
    if (prices.length === 0 && !isGone) return;
    const begins = prices.map(({ from }) => dayOf(from > startOf(month) ? from : startOf(month)));
    for (let day = dayOf(startOf(month)); monthOf(day) === month && day < today; day = addDays(day, 1))
      if (isWhole || (addDays(day, 1) === today && begins.includes(day)))
        await write(table, requestExport(accountId, day, now().getTime()));
  };

  const nextMonth = (job: PriceJob): PriceJob => ({ ...job, ...monthBegun, months: job.months.slice(1) });

  const sumUp: Step = async (accountId, own, job, { isLate }) => {
    const month = job.months[0] as Month;
    const afterSums = (): PriceJob =>
      job.factorsOnly.includes(month) ? nextMonth(job) : { ...job, phase: 'price', doneFrom: null, sums: {} };
    const prices = monthPricesOf(own.prices, month);
    const isWhole = !job.factorsOnly.includes(month);
    if (prices.length === 0) {
      await exportCommitments(accountId, month, own, isWhole);
      const { [month]: _gone, ...months } = own.months;
      return { ...own, months, job: afterSums() };
    }
    const asOf = job.asOf ?? now().toISOString();
    const counted = job.asOf === null ? await countedIn(accountId, month) : job.counted;
    const accountPrices = await store.accountPricesOf(accountId, own);
    const sums: MonthSums = structuredClone(job.sums);
    let { requests: added } = job;
    const place = { month, doneFrom: job.doneFrom, until: asOf };
    const visit = async (records: readonly RequestRecord[]) => {
      for (const record of records) addRecord(sums, record, accountPrices);
      added += records.length;
      return true;
    };
    const doneFrom = await walk(accountId, place, visit, isLate);
    if (doneFrom !== null) return { ...own, job: { ...job, asOf, counted, sums, requests: added, doneFrom } };
    const paidBefore = (priceId: string) =>
      Object.entries(own.months)
        .filter(([earlierMonth]) => earlierMonth < month)
        .reduce((sum, [, { factors }]) => sum + BigInt(factors[priceId]?.sum ?? '0'), 0n);
    // Discounts too: a credit pays what is left after them.
    const holding = own.prices.filter((each) => holdsBetween(each, startOf(month), endOfMonth(month)));
    const factors = monthFactors(holding, sums, { month, asOf: new Date(asOf), paidBefore });
    const { factors: before, isFinal: wasFinal = false } = own.months[month] ?? {};
    // Where requests of a closed month are no longer on record, what was known of its prices stays: a credit does not pay again.
    if (wasFinal && added < (new Map<string, number>(JSON.parse(counted)).get('requests') ?? 0))
      for (const { priceId } of holding) if (before?.[priceId]) factors[priceId] = before[priceId];
    await exportCommitments(accountId, month, own, isWhole);
    const credits = prices.filter(({ terms }) => terms.kind === 'credit');
    // The rest of a credit is less, or more, in the months after this one.
    const moved = credits.filter(({ priceId }) => (before?.[priceId]?.sum ?? '0') !== (factors[priceId]?.sum ?? '0'));
    const later = moved.length === 0 ? [] : Object.keys(own.months).filter((each) => each > month);
    const next = afterSums();
    return {
      ...own,
      months: { ...own.months, [month]: { factors, asOf, isFinal: asOf >= endOfMonth(month), counted } },
      job: { ...next, months: [...new Set([...next.months, ...later])].sort() },
    };
  };

  const priceAgain: Step = async (accountId, own, job, { isLate, interrupt }) => {
    let { changed, differenceNanoUsd, failed } = job;
    const place = { month: job.months[0] as Month, doneFrom: job.doneFrom, until: now().toISOString() };
    const visit = async (records: readonly RequestRecord[]) => {
      const result = await reprice(records, { dryRun: false, keepListPrices: true });
      changed += result.changes.length;
      for (const { before, after } of result.changes)
        differenceNanoUsd += (after.costNanoUsd ?? 0) - (before?.costNanoUsd ?? 0);
      // The next run takes these records again: they would keep the former prices for good.
      if (result.temporary) interrupt(result.temporary);
      else failed += result.failed;
      return !result.temporary;
    };
    const doneFrom = await walk(accountId, place, visit, isLate);
    const counts = { changed, differenceNanoUsd, failed };
    return { ...own, job: doneFrom === null ? { ...nextMonth(job), ...counts } : { ...job, ...counts, doneFrom } };
  };

  const step: Step = async (accountId, own, job, run) => {
    if (job.months.length === 0) {
      const { changed, differenceNanoUsd, failed } = job;
      const lastJob = { at: now().toISOString(), changed, differenceNanoUsd, failed };
      return { ...own, job: null, lastJob: changed + failed > 0 ? lastJob : own.lastJob };
    }
    return (job.phase === 'sum' ? sumUp : priceAgain)(accountId, own, job, run);
  };

  /** Continues the job of an account, or begins the one of the day. @param isLate true where the rest must wait for the next run */
  return async (accountId: string, isLate: () => boolean): Promise<void> => {
    let { version, own } = await store.read(accountId);
    // The account was deleted.
    if (version === 0) return;
    const keep = async (next: OwnPrices): Promise<boolean> => {
      if (!(await store.keepProgress(accountId, version, next))) return false;
      version += 1;
      own = next;
      return true;
    };
    if (!own.job) {
      const due = await dailyJob(own, now(), (month) => countedIn(accountId, month));
      if (due && !(await keep(due))) return;
    }
    let interruption: unknown;
    const interrupt = (error: unknown): void => {
      interruption = error;
    };
    while (own.job && own.job.startsAt <= now().toISOString() && !isLate()) {
      if (!(await keep(await step(accountId, own, own.job, { isLate, interrupt })))) return;
      if (interruption) throw interruption;
    }
  };
};

import { isDeepStrictEqual } from 'node:util';
import type { Logger } from '@aws-lambda-powertools/logger';
import { MetricUnit } from '@aws-lambda-powertools/metrics';
import { type ModelUse, REPRICED_DAYS } from '../../data/prices/model-use.ts';
import type { PriceVersions } from '../../data/prices/price-versions.ts';
import type { openRepricingProgress, PriceChanges, RepricingProgress } from '../../data/prices/repricing.ts';
import type { openRequests } from '../../data/requests/requests.ts';
import { inBatches } from '../../data/table/batch.ts';
import { HOUR_MS, MINUTE_MS } from '../../domain/calendar/units.ts';
import { addDays, type Day, dayOf, daysBetween } from '../../domain/calendar/utc.ts';
import { type CostDifference, withDifferences } from '../../domain/price/cost-differences.ts';
import { loadBundledBook, openPriceBook } from '../../domain/price/price-book.ts';
import { comparedPromptTokens, type PriceBook } from '../../domain/price/rates.ts';
import type { RequestRecord } from '../../domain/spend/request-record.ts';
import { modelsIn } from '../../domain/usage/parts.ts';
import type { MetricLog } from '../../on-schedule.ts';
import type { RepriceResult } from '../reprice.ts';

interface Dependencies {
  readonly versions: Pick<PriceVersions, 'newest' | 'read' | 'list'>;
  readonly progress: ReturnType<typeof openRepricingProgress>;
  readonly usesOf: (day: Day) => AsyncIterable<ModelUse>;
  readonly requests: Pick<ReturnType<typeof openRequests>, 'all'>;
  readonly changes: Pick<PriceChanges, 'note'>;
  readonly repricerOf: (
    findPrice: PriceBook,
  ) => (records: readonly RequestRecord[], options: { readonly dryRun: boolean }) => Promise<RepriceResult>;
  readonly logger: Pick<Logger, 'info' | 'error'>;
  readonly metrics: MetricLog;
  readonly now: () => Date;
}

/** By then every recorder uses the version, so no request that is recorded later has the price of before. */
const WAIT_MS = 10 * MINUTE_MS;
/** The longest time that a batch of records takes. */
const RESERVE_MS = 30_000;
const BATCH = 500;

/** Whether a model has another price in two books at some time of a day, or is surer of it. */
const changesBetween = (before: PriceBook, after: PriceBook) => {
  const known = new Map<string, boolean>();
  return ({ day, provider, model }: ModelUse): boolean => {
    const name = `${day} ${provider} ${model}`;
    let differs = known.get(name);
    if (differs === undefined) {
      const start = Date.parse(day);
      differs = Array.from({ length: 25 }, (_, hour) => new Date(start + hour * HOUR_MS - (hour === 24 ? 1 : 0))).some(
        (at) =>
          comparedPromptTokens.some((inputTokens) => {
            const query = { provider, model, at, inputTokens };
            const [old, next] = [before(query), after(query)];
            return old?.doubt !== next?.doubt || !isDeepStrictEqual(old?.rates ?? {}, next?.rates ?? {});
          }),
      );
      known.set(name, differs);
    }
    return differs;
  };
};

/**
 * Prices requests again whose prices a new version of the book changed: those of models that had none, and those since a price holds.
 * The work is done by day and account, and goes on in the next run where the time ends. What it changes is noted for the account.
 *
 * The returned function takes `remainingMs`, which returns the time left for the run.
 */
export const repriceChanged = ({
  versions,
  progress,
  usesOf,
  requests,
  changes,
  repricerOf,
  logger,
  metrics,
  now,
}: Dependencies) => {
  const bookOf = async (number: number): Promise<PriceBook> =>
    number === 0 ? loadBundledBook() : openPriceBook(await versions.read(number), String(number));

  /** The job of the run; null where nothing changed. */
  const jobOf = async ({ done, job }: RepricingProgress) => {
    if (job) return job;
    const newest = await versions.newest();
    if (!newest || newest.number === done) return null;
    for await (const { number, acceptedAt } of versions.list()) {
      if (number <= done) break;
      if (Date.parse(acceptedAt) + WAIT_MS > now().getTime()) continue;
      const last = dayOf(now().toISOString());
      return { to: number, first: addDays(last, 1 - REPRICED_DAYS), last, cursor: null };
    }
    return null;
  };

  const batchesOf = (accountId: string, day: Day) =>
    inBatches(requests.all(accountId, { from: `${day}T00:00:00.000Z`, to: `${addDays(day, 1)}T00:00:00.000Z` }), BATCH);

  return async (remainingMs: () => number): Promise<void> => {
    const state = await progress.read();
    const job = await jobOf(state);
    if (!job) return;
    const before = await bookOf(state.done);
    const after = await bookOf(job.to);
    const isChanged = changesBetween(before, after);
    const reprice = repricerOf(after);

    /** False where the time ended. */
    const repriceDay = async (accountId: string, day: Day, models: ReadonlySet<string>): Promise<boolean> => {
      const isConcerned = ({ provider, reading }: RequestRecord) =>
        reading !== null &&
        [reading.modelRequested ?? '', ...modelsIn(reading)].some((model) =>
          models.has(`${provider} ${model.toLowerCase()}`),
        );
      let differences: CostDifference[] = [];
      for (const dryRun of [true, false]) {
        for await (const batch of batchesOf(accountId, day)) {
          if (remainingMs() < RESERVE_MS) return false;
          const { changes: changed, failed, temporary } = await reprice(batch.filter(isConcerned), { dryRun });
          if (dryRun) differences = withDifferences(differences, changed);
          else metrics.addMetric('RepricedRequests', MetricUnit.Count, changed.length);
          // The next run takes this day of the account again: some requests would keep the former prices for good.
          if (temporary) throw temporary;
          if (failed > 0) {
            logger.error('Requests not priced again', { version: job.to, day, failed });
            metrics.addMetric('RepricingFailures', MetricUnit.Count, failed);
          }
        }
        if (!dryRun || differences.length === 0) continue;
        const repricedAt = now().toISOString();
        await changes.note(accountId, { version: job.to, day, repricedAt, differences });
      }
      return true;
    };

    let { cursor } = job;
    for (const day of daysBetween(cursor?.day ?? job.first, job.last)) {
      const byAccount = new Map<string, Set<string>>();
      for await (const use of usesOf(day)) {
        if (!isChanged(use)) continue;
        const models = byAccount.get(use.accountId) ?? new Set();
        byAccount.set(use.accountId, models.add(`${use.provider} ${use.model}`));
      }
      const accounts = [...byAccount];
      const from = cursor?.day === day ? accounts.findIndex(([accountId]) => accountId === cursor?.accountId) + 1 : 0;
      for (const [accountId, models] of accounts.slice(from)) {
        if (!(await repriceDay(accountId, day, models))) return;
        cursor = { day, accountId };
        await progress.save({ done: state.done, job: { ...job, cursor } });
      }
      if (remainingMs() < RESERVE_MS) return;
    }
    await progress.save({ done: job.to, job: null });
    logger.info('Requests priced again', { version: job.to });
  };
};

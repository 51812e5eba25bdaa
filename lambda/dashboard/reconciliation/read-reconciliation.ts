import type { Logger } from '@aws-lambda-powertools/logger';
import { openTrackingGaps } from '../../data/ledger/tracking-gaps.ts';
import { openNewestBook } from '../../data/prices/newest-book.ts';
import { openPriceVersions } from '../../data/prices/price-versions.ts';
import { type Bills, openBills } from '../../data/reconciliation/bills.ts';
import { openSpend } from '../../data/spend/spend.ts';
import type { Table } from '../../data/table/table.ts';
import { instantsOf } from '../../domain/calendar/range.ts';
import { DAY_MS } from '../../domain/calendar/units.ts';
import { type Day, dayOf } from '../../domain/calendar/utc.ts';
import { invalid } from '../../domain/errors.ts';
import { modelNames } from '../../domain/price/model-names.ts';
import type { PriceBook } from '../../domain/price/rates.ts';
import type { ProviderLabel } from '../../domain/providers.ts';
import type { BilledTokens, RecordedUsage } from '../../domain/reconciliation/bill.ts';
import { buckets, reconcile } from '../../domain/reconciliation/reconcile.ts';
import { type Counters, sumOfCosts } from '../../domain/spend/counters.ts';
import type { ReadCounters } from '../../domain/spend/spend-question.ts';
import { usdOf } from '../../domain/spend/spend-report.ts';
import type { ReadTrackingGaps, TrackingGap } from '../../domain/spend/tracking-gaps.ts';
import type { Implementation } from '../../http/operation.ts';
import type * as operations from './operations.ts';

const MAX_DAYS = 92;
const MAX_FINDINGS = 200;

interface ReconciliationDependencies {
  readonly bills: Pick<Bills, 'read'>;
  readonly readCounters: ReadCounters;
  readonly readTrackingGaps: ReadTrackingGaps;
  /** The book that requests are priced with. */
  readonly loadBook: () => Promise<PriceBook>;
}

const tokensOf = (counters: Counters): BilledTokens => {
  const { inputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0, outputTokens = 0 } = counters;
  return {
    input: Math.max(0, inputTokens - cacheReadTokens - cacheWriteTokens),
    cacheRead: cacheReadTokens,
    cacheWrite: cacheWriteTokens,
    output: outputTokens,
  };
};

/** The ledger's sums of one provider, by day and model. */
export const readRecorded = async (
  { readCounters }: Pick<ReconciliationDependencies, 'readCounters'>,
  accountId: string,
  provider: string,
  range: { readonly from: string; readonly to: string },
): Promise<RecordedUsage[]> => {
  const recorded: RecordedUsage[] = [];
  const counters = readCounters({ accountId, range: { granularity: 'day', ...range }, groupBy: ['provider', 'model'] });
  for await (const { time, dimensions, counters: sums } of counters) {
    if (dimensions.provider !== provider) continue;
    recorded.push({
      day: dayOf(time),
      model: dimensions.model,
      costNanoUsd: sumOfCosts(sums) - (sums.markupNanoUsd ?? 0),
      requests: sums.requests ?? 0,
      unpricedRequests: sums.unpricedRequests ?? 0,
      tokens: tokensOf(sums),
    });
  }
  return recorded;
};

/** Cost of tokens by the price book, in its own unit. Only the proportion of two such amounts is used. */
const listCostOf =
  (provider: string, findPrice: PriceBook) =>
  (model: string, day: Day, tokens: BilledTokens): number | null => {
    const at = new Date(`${day}T12:00:00Z`);
    const [name = model] = modelNames(model);
    const rates = findPrice({ provider, model: name, at, inputTokens: 0 })?.rates;
    if (rates?.input === undefined) return null;
    const rate = (...kinds: readonly (bigint | undefined)[]) => Number(kinds.find((kind) => kind !== undefined) ?? 0n);
    return (
      tokens.input * rate(rates.input) +
      tokens.cacheRead * rate(rates.cacheRead, rates.input) +
      tokens.cacheWrite * rate(rates.cacheWrite, rates.input) +
      tokens.output * rate(rates.output)
    );
  };

/** Untracked requests by the day that their gap began on. */
const untrackedByDay = (gaps: readonly TrackingGap[]): Map<Day, number> => {
  const days = new Map<Day, number>();
  for (const { from, requests } of gaps) days.set(dayOf(from), (days.get(dayOf(from)) ?? 0) + requests);
  return days;
};

/** @throws ValidationError for a range that is empty, or too long */
const rangeOf = (days: { readonly from: Day; readonly to: Day }) => {
  const range = instantsOf(days, new Date());
  if (Date.parse(range.to) - Date.parse(range.from) > MAX_DAYS * DAY_MS)
    throw invalid('to', `must be at most ${MAX_DAYS} days from the first`);
  return range;
};

/**
 * The comparison of a provider's bill with the ledger, as the API shows it.
 *
 * @throws ValidationError for a range that is not allowed
 */
export const compareBill =
  (dependencies: ReconciliationDependencies) =>
  async (accountId: string, provider: ProviderLabel, { from, to }: { readonly from: Day; readonly to: Day }) => {
    const range = rangeOf({ from, to });
    const [bill, recorded, gaps, findPrice] = await Promise.all([
      dependencies.bills.read(accountId, provider, { from, to }),
      readRecorded(dependencies, accountId, provider, range),
      dependencies.readTrackingGaps(accountId, range),
      dependencies.loadBook(),
    ]);
    const listCost = listCostOf(provider, findPrice);
    const compared = reconcile({ from, to, bill, recorded, untracked: untrackedByDay(gaps), listCost });
    const { billedNanoUsd, recordedNanoUsd, differences, findings } = compared;
    const credits = findings.filter(({ bucket, item }) => bucket === 'discount' && item !== null);
    const beforeCredits = credits.reduce((rest, { amountNanoUsd }) => rest - amountNanoUsd, billedNanoUsd);
    return {
      provider,
      from,
      to,
      billedDays: bill.readAt.size,
      readAt: [...bill.readAt.values()].sort().at(-1) ?? null,
      ...(bill.readAt.size === 0
        ? { billedNanoUsd: null, billedUsd: null }
        : { billedNanoUsd, billedUsd: usdOf(billedNanoUsd) }),
      recordedNanoUsd,
      recordedUsd: usdOf(recordedNanoUsd),
      unpricedRequests: recorded.reduce((sum, { unpricedRequests }) => sum + unpricedRequests, 0),
      throughGatewayShare: beforeCredits > 0 ? Math.max(0, 1 - differences.notThroughGateway / beforeCredits) : null,
      differences: buckets
        .filter((bucket) => differences[bucket] !== 0)
        .map((bucket) => ({
          bucket,
          amountNanoUsd: differences[bucket],
          amountUsd: usdOf(differences[bucket]),
        })),
      findings: findings
        .slice(0, MAX_FINDINGS)
        .map((finding) => ({ ...finding, amountUsd: usdOf(finding.amountNanoUsd) })),
    };
  };

export const readReconciliation = (
  dependencies: ReconciliationDependencies,
): Implementation<typeof operations.readReconciliation> => {
  const compare = compareBill(dependencies);
  return ({ caller: { accountId }, params: { provider }, query }) => compare(accountId, provider, query);
};

/** The same over the table. Prices are those of the newest price book, or of the one in the code if that cannot be read. */
export const openReadReconciliation = (table: Table, logger: Pick<Logger, 'error'>) =>
  readReconciliation({
    bills: openBills(table),
    readCounters: openSpend(table, { isTimed: true }).read,
    readTrackingGaps: openTrackingGaps(table).gaps,
    loadBook: openNewestBook({
      versions: openPriceVersions(table),
      onFallback: (error) => logger.error('Newest prices not read', { errorName: error.name }),
    }),
  });

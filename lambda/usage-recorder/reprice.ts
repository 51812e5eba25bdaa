import { openOwnPrices } from '../data/accounts/own-prices.ts';
import { openLedger } from '../data/ledger/ledger.ts';
import { finishedReservations } from '../data/ledger/reservations.ts';
import type { Change } from '../data/ledger/transactions.ts';
import { openCountedResponses, responseKeyText } from '../data/requests/counted-responses.ts';
import { noObjects, type ObjectReader } from '../data/requests/day-file.ts';
import { openRequests } from '../data/requests/requests.ts';
import { openDayReturn } from '../data/requests/return-day.ts';
import type { Table } from '../data/table/table.ts';
import { dayOf } from '../domain/calendar/utc.ts';
import { applyPrices } from '../domain/own-prices/apply-prices.ts';
import type { PriceableRequest } from '../domain/price/request-rates.ts';
import { isPriceable, type PriceableRecord } from '../domain/spend/contribution.ts';
import { listCostOf, type RequestRecord } from '../domain/spend/request-record.ts';
import { isRaw } from '../domain/usage/raw.ts';
import type { PricedUsage } from '../domain/usage/usage.ts';
import { plausible, priceMembers } from './build-record.ts';
import { countableResponse } from './decide-changes.ts';

export interface RepriceResult {
  /** Records whose price changed, or would change. */
  readonly changes: readonly Change[];
  /** Changes that could not be written, or that other writers overtook in every round. */
  readonly failed: number;
  /** The error of a change that the table may accept later. */
  readonly temporary?: unknown;
}

const MAX_ROUNDS = 5;

/** Two prices are the same where these texts are: object members are sorted. */
const priceText = ({
  usage,
  costNanoUsd,
  provenance,
  priceSource,
  lines,
  reason,
  listCostNanoUsd = costNanoUsd,
  markupNanoUsd = 0,
  ownPrices,
}: PricedUsage | RequestRecord): string =>
  JSON.stringify(
    [usage, costNanoUsd, listCostNanoUsd, markupNanoUsd, provenance, priceSource, lines, ownPrices, reason],
    (_, value) =>
      isRaw(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value,
  );

/**
 * A request at list prices. Where its record has them, they stay as they are: own rates replace them, and what was unknown is priced again.
 */
export const listPriceOf = (
  record: PriceableRecord,
  price: (request: PriceableRequest) => PricedUsage,
): PricedUsage => {
  if (record.ownPrices?.lines || record.listCostNanoUsd === null) return price(record);
  const { usage, provenance, priceSource, priceVersion, priceEvidence, estimateRange, lines, reason } = record;
  const ofPrice = { provenance, priceSource, priceVersion, priceEvidence, estimateRange, lines, reason };
  return { usage, costNanoUsd: listCostOf(record), ...ofPrice };
};

interface RepriceOptions {
  readonly dryRun: boolean;
  /** Only the account's own prices are applied again: list prices stay what they were when the request was recorded. */
  readonly keepListPrices?: boolean;
}

/**
 * Prices records again from the usage they hold, with the account's own prices of now. The counters change by the difference, in the same transaction as the record;
 * a second run finds nothing to change. Days that have left the table come back before they are written. Open it for one run.
 */
export const openRepricer = (
  table: Table,
  price: (request: PriceableRequest) => PricedUsage,
  objects: ObjectReader = noObjects,
  now: () => number = Date.now,
) => {
  const ownPrices = openOwnPrices(table);
  const requests = openRequests(table);
  const countedResponses = openCountedResponses(table);
  const ledger = openLedger(table, now);
  const returnDay = openDayReturn(table, objects, now);

  const readAccountPrices = async (accountIds: ReadonlySet<string>) =>
    new Map(
      await Promise.all(
        [...accountIds].map(async (accountId) => {
          const { own } = await ownPrices.read(accountId);
          return [accountId, await ownPrices.accountPricesOf(accountId, own)] as const;
        }),
      ),
    );

  const decideChanges = async (
    records: readonly RequestRecord[],
    { keepListPrices }: RepriceOptions,
  ): Promise<Change[]> => {
    const pricesByAccount = await readAccountPrices(new Set(records.map(({ accountId }) => accountId)));
    const priced = records.filter(isPriceable).map((before) => {
      const list = keepListPrices ? listPriceOf(before, price) : price(before);
      const now = plausible(applyPrices(before, list, pricesByAccount.get(before.accountId), price));
      return { before, now, response: countableResponse(before, now) };
    });
    const changed = priced.filter(({ before, now }) => priceText(before) !== priceText(now));
    const known = await countedResponses.find(changed.flatMap(({ response }) => response ?? []));
    const countedWith = new Map(known.countedWith);
    return changed.map(({ before, now, response }): Change => {
      const first = response && countedWith.get(responseKeyText(response));
      const repeatOf = first && first !== before.requestId ? first : null;
      const waiting = response ? known.awaited.get(responseKeyText(response)) : undefined;
      const counted = first || now.usage === null ? null : response;
      if (counted) countedWith.set(responseKeyText(counted), before.requestId);
      return {
        before,
        after: { ...before, ...priceMembers(now, repeatOf), revision: before.revision + 1 },
        countsResponse: counted?.responseId,
        isAwaited: waiting !== undefined,
        reservations: counted
          ? finishedReservations(waiting ?? [], before.accountId, now.costNanoUsd, { wasPending: true })
          : undefined,
      };
    });
  };

  return async (records: readonly RequestRecord[], options: RepriceOptions): Promise<RepriceResult> => {
    let changes = await decideChanges(records, options);
    if (options.dryRun) return { changes, failed: 0 };
    const written: Change[] = [];
    let failed = 0;
    let temporary: unknown;
    for (let round = 0; round < MAX_ROUNDS && changes.length > 0; round++) {
      for (const { after } of changes) await returnDay(after.accountId, dayOf(after.startedAt));
      const result = await ledger.commit(changes);
      written.push(...result.written);
      failed += result.failed.length;
      temporary ??= result.failed.find(({ permanent }) => !permanent)?.error;
      const overtaken = result.refused.map(({ after }) => after);
      changes =
        overtaken.length > 0
          ? await decideChanges(await requests.findMany(overtaken, { consistent: true }), options)
          : [];
    }
    return { changes: written, failed: failed + changes.length, temporary };
  };
};

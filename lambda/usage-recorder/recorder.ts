import type { Logger } from '@aws-lambda-powertools/logger';
import { MetricUnit } from '@aws-lambda-powertools/metrics';
import pMap from 'p-map';
import { openAccountTerms } from '../data/accounts/account-terms.ts';
import { openOwnPrices } from '../data/accounts/own-prices.ts';
import { openLimitValues } from '../data/ledger/limit-values.ts';
import { openTrackingGaps } from '../data/ledger/tracking-gaps.ts';
import { openNewestBook } from '../data/prices/newest-book.ts';
import { openPriceVersions } from '../data/prices/price-versions.ts';
import type { Table } from '../data/table/table.ts';
import { applyPrices } from '../domain/own-prices/apply-prices.ts';
import { loadBundledBook } from '../domain/price/price-book.ts';
import { priceRequest } from '../domain/price/price-request.ts';
import type { PriceBook } from '../domain/price/rates.ts';
import type { PriceableRequest } from '../domain/price/request-rates.ts';
import { type PricedUsage, unknownPrice } from '../domain/usage/usage.ts';
import type { UsageEvent } from '../domain/usage/usage-event.ts';
import type { MetricLog } from '../on-schedule.ts';
import { type AccountEvent, type AccountUntrackedEvent, attributeEvents, failure, nameOf } from './attribute-events.ts';
import { openRequestRecorder, type RecordingTerms, type RequestResult } from './record-requests.ts';

/** Result of an event. The queue must deliver it again only where it `failed`. */
export type EventResult =
  | RequestResult
  /** A report of untracked requests is stored as a tracking gap of its account. */
  | { readonly kind: 'noted' }
  /** The event names no account, and its key belongs to nobody; or its account is deleted. */
  | { readonly kind: 'unowned' };

/** Records a batch of events. Returns the result of each, in the order of the events; never rejects. */
export type Recorder = (events: readonly UsageEvent[]) => Promise<EventResult[]>;

const ACCOUNTS_AT_ONCE = 16;
/** An account key has 34. */
const MAX_ACCOUNT_ID_CHARACTERS = 256;

/** No key of the table can hold this account id. */
class ForeignAccountError extends Error {
  override readonly name = 'ForeignAccountError';
}

const isStorable = (accountId: string): boolean =>
  accountId.length <= MAX_ACCOUNT_ID_CHARACTERS && accountId.isWellFormed();

interface RecorderOptions {
  readonly logger: Pick<Logger, 'error'>;
  /** The price book of a batch; must not reject. Default: the one in the code. */
  readonly loadBook?: () => Promise<PriceBook>;
  /** At list prices, or at rates that the request names. */
  readonly price?: (request: PriceableRequest, findPrice: PriceBook) => PricedUsage;
  readonly now?: () => number;
  readonly accountTerms?: ReturnType<typeof openAccountTerms>;
}

/**
 * The recorder over one table, as the queue, the sweep and operations use it. What fails for one account does not affect the others, and a
 * stored item that cannot be read fails its own event only.
 */
export const openRecorder = (
  table: Table,
  {
    logger,
    loadBook = loadBundledBook,
    price = priceRequest,
    now = Date.now,
    accountTerms = openAccountTerms(table, now),
  }: RecorderOptions,
): Recorder => {
  const trackingGaps = openTrackingGaps(table);
  const ownPrices = openOwnPrices(table, now);
  const limitValues = openLimitValues(table, now);
  let findPrice: PriceBook;
  const recordRequests = openRequestRecorder(table, {
    now,
    // Pricing does not throw. If it did, one event would keep all others of its account from being recorded.
    price: (event, accountPrices) => {
      try {
        return applyPrices(event, price(event, findPrice), accountPrices, (request) => price(request, findPrice));
      } catch (error) {
        logger.error('Pricing failed', { requestId: event.requestId, errorName: (error as Error).name });
        return unknownPrice('The price could not be computed.');
      }
    },
  });

  const noteGap = async ({ accountId, requestId, from, to, requests }: AccountUntrackedEvent): Promise<EventResult> => {
    try {
      await trackingGaps.note(accountId, requestId, { from, to, requests });
      return { kind: 'noted' };
    } catch (error) {
      return failure(error);
    }
  };

  /** The terms of each account, and the failures of those that could not be read. @param keyIdsOf those that its events name */
  const findTerms = async (accountIds: readonly string[], keyIdsOf: (accountId: string) => ReadonlySet<string>) => {
    const terms = new Map<string, RecordingTerms>();
    const failures = new Map<string, EventResult>();
    const find = async (accountId: string) => {
      try {
        if (!isStorable(accountId)) failures.set(accountId, failure(new ForeignAccountError(), true));
        else {
          const found = await accountTerms.find(accountId);
          const accountPrices = found.hasOwnPrices ? await ownPrices.findAccountPrices(accountId) : undefined;
          const countedLimits = found.countsValues
            ? await limitValues.findLimits(accountId, keyIdsOf(accountId))
            : undefined;
          terms.set(accountId, { ...found, accountPrices, countedLimits });
        }
      } catch (error) {
        failures.set(accountId, failure(error));
      }
    };
    await pMap(accountIds, find, { concurrency: ACCOUNTS_AT_ONCE });
    return { terms, failures };
  };

  return async (events) => {
    try {
      findPrice = await loadBook();
      const attributed = await attributeEvents(table, events);
      const owned = attributed.filter((event) => event !== null && event.kind !== 'failed');
      const byAccount = Map.groupBy(owned, ({ accountId }) => accountId);
      const { terms, failures } = await findTerms(
        [...byAccount.keys()],
        (accountId) => new Set(byAccount.get(accountId)?.flatMap((event) => ('keyId' in event && event.keyId) || [])),
      );
      const isDeleted = ({ accountId }: AccountEvent) => terms.get(accountId)?.isDeleted === true;
      const results = new Map<string, EventResult>(
        owned.filter(isDeleted).map((event) => [nameOf(event), { kind: 'unowned' }]),
      );
      const kept = owned.filter((event) => terms.has(event.accountId) && !isDeleted(event));
      for (const report of kept.filter((event) => event.kind === 'untracked'))
        results.set(nameOf(report), await noteGap(report));
      const recordable = kept.filter((event) => event.kind !== 'untracked');
      for (const [name, result] of await recordRequests(recordable, terms)) results.set(name, result);
      return attributed.map((event) => {
        if (event === null) return { kind: 'unowned' };
        if (event.kind === 'failed') return event;
        return results.get(nameOf(event)) ?? failures.get(event.accountId) ?? failure(undefined);
      });
    } catch (error) {
      return events.map(() => failure(error));
    }
  };
};

/** The newest price book, for recorders. A version that cannot be used is logged and counted, and an older one is used. */
export const newestBook = (
  table: Table,
  { logger, metrics }: { readonly logger: Pick<Logger, 'error'>; readonly metrics: MetricLog },
): (() => Promise<PriceBook>) =>
  openNewestBook({
    versions: openPriceVersions(table),
    onFallback: ({ name }) => {
      logger.error('Newest prices cannot be used', { errorName: name });
      metrics.addMetric('PriceBookFallbacks', MetricUnit.Count, 1);
    },
  });

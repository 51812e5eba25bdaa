import { finishedReservations } from '../data/ledger/reservations.ts';
import type { Change } from '../data/ledger/transactions.ts';
import { type KnownResponses, type ResponseName, responseKeyText } from '../data/requests/counted-responses.ts';
import type { RequestName } from '../data/requests/requests.ts';
import { countedOnceBy, lacksResults } from '../domain/price/charged-once.ts';
import { reasons } from '../domain/price/price-request.ts';
import type { PriceableRequest } from '../domain/price/request-rates.ts';
import type { RequestRecord } from '../domain/spend/request-record.ts';
import { BILLABLE } from '../domain/usage/billable-items.ts';
import type { PricedUsage } from '../domain/usage/usage.ts';
import { type AccountCloseEvent, type AccountRequestEvent, isClose, nameOf } from './attribute-events.ts';
import { plausible, recordOfClose, recordOfOpen } from './build-record.ts';

/**
 * State of a batch's requests in the ledger. Anything not in it is assumed to be absent; the ledger refuses the change
 * where that is wrong.
 */
export interface LedgerState {
  /** By nameOf, of requests with a close event. */
  readonly records: ReadonlyMap<string, RequestRecord>;
  /** Requests with an open event that have a record, by nameOf: an open event adds nothing to it. */
  readonly opened: ReadonlySet<string>;
  readonly responses: KnownResponses;
}

interface Terms {
  readonly price: (event: AccountCloseEvent) => PricedUsage;
  /** ISO 8601 UTC. */
  readonly recordedAt: string;
  /** Epoch seconds. */
  readonly expiresAt: (request: RequestName) => number;
}

const MAX_RESPONSE_ID_CHARACTERS = 256;

/**
 * One event for each request, by nameOf: the first close event where there is one, since it contains all that an open event does.
 * The other events of the request share its result.
 */
export const onePerRequest = <E extends AccountRequestEvent>(events: readonly E[]): Map<string, E> => {
  const chosen = new Map<string, E>();
  for (const event of events) {
    const before = chosen.get(nameOf(event));
    if (!before || (isClose(event) && !isClose(before))) chosen.set(nameOf(event), event);
  }
  return chosen;
};

type Request = PriceableRequest & Pick<AccountCloseEvent, 'accountId'>;

/** The response of a request that can be fetched again; null for any other. */
const responseOf = (request: Request): ResponseName | null => {
  const responseId = countedOnceBy(request);
  if (responseId === null || responseId.length > MAX_RESPONSE_ID_CHARACTERS) return null;
  return { accountId: request.accountId, provider: request.provider, responseId };
};

/**
 * The response that a request returned, where it can be fetched again and has a cost; of the status of an ended batch, and of a part of
 * its results, all results.
 * Null otherwise.
 */
export const countableResponse = (request: Request, priced: PricedUsage): ResponseName | null => {
  // A response that was not made in the background was counted when it was made. Fetching it is free: see priceRequest.
  if (request.reading.billableItems[BILLABLE.responseBackground] === 0) return null;
  if ((priced.usage === null && !lacksResults(request.reading)) || priced.provenance === 'free') return null;
  return responseOf(request);
};

/** The response that a request began and another will fetch, where something is reserved for it. Null otherwise. */
export const awaitedResponse = (event: AccountCloseEvent, { reason }: PricedUsage): ResponseName | null =>
  reason === reasons.pending && event.reservations !== undefined ? responseOf(event) : null;

/** A request that waits for a response of the same batch passes its reservations on. */
const withAwaitedOfBatch = (changes: readonly Change[]): Change[] => {
  const nameOf = ({ after: { accountId, provider } }: Change, responseId: string): string =>
    responseKeyText({ accountId, provider, responseId });
  const waiting = new Map(
    changes.flatMap((change) => (change.awaitsResponse ? [[nameOf(change, change.awaitsResponse), change]] : [])),
  );
  const joined = new Set<Change>();
  const counting = changes.map((change) => {
    const begun = change.countsResponse && waiting.get(nameOf(change, change.countsResponse));
    if (!begun) return change;
    joined.add(begun);
    const { accountId, costNanoUsd } = change.after;
    const passed = finishedReservations(begun.reservations ?? [], accountId, costNanoUsd);
    return { ...change, reservations: [...(change.reservations ?? []), ...passed] };
  });
  return counting.map((change) =>
    joined.has(change) ? { ...change, awaitsResponse: undefined, reservations: undefined } : change,
  );
};

/**
 * Decides what the events change in the ledger. Each request may have one event; an event that adds nothing new has no change.
 * Records come out at overflow level 0 and without allocation dimensions: counter slots set both.
 */
export const decideChanges = (
  events: Iterable<AccountRequestEvent>,
  state: LedgerState,
  { price, recordedAt, expiresAt }: Terms,
): Change[] => {
  const { awaited, countedWith: countedBefore } = state.responses;
  const countedWith = new Map(countedBefore);

  const decide = (event: AccountRequestEvent): Change | null => {
    if (!isClose(event) && state.opened.has(nameOf(event))) return null;
    const before = state.records.get(nameOf(event)) ?? null;
    const context = {
      recordedAt,
      expiresAt: expiresAt(event),
      revision: (before?.revision ?? 0) + 1,
      overflowLevel: 0,
    };
    if (!isClose(event)) return { before, after: recordOfOpen(event, context) };
    // The first close event counts: no later event changes a record whose outcome is known.
    if (before && before.outcome !== 'unknown') return null;
    const priced = plausible(price(event));
    const response = countableResponse(event, priced);
    const first = response && countedWith.get(responseKeyText(response));
    const repeatOf = first && first !== event.requestId ? first : null;
    const later = awaitedResponse(event, priced);
    // Counted with another request before.
    const isCounted = later !== null && countedBefore.has(responseKeyText(later));
    const isPending = later !== null && !isCounted && !awaited.has(responseKeyText(later));
    const change = (after: RequestRecord): Change => ({
      before,
      after,
      reservations:
        event.reservations &&
        finishedReservations(event.reservations, event.accountId, isCounted ? 0 : after.costNanoUsd, { isPending }),
      awaitsResponse: isPending ? later.responseId : undefined,
    });
    if (!response || first !== undefined || priced.usage === null)
      return change(recordOfClose(event, priced, repeatOf, context));
    countedWith.set(responseKeyText(response), event.requestId);
    const counting = change(recordOfClose(event, priced, null, context));
    const waiting = awaited.get(responseKeyText(response));
    const ended = finishedReservations(waiting ?? [], event.accountId, counting.after.costNanoUsd, {
      wasPending: true,
    });
    return {
      ...counting,
      countsResponse: response.responseId,
      isAwaited: waiting !== undefined,
      reservations: [...(counting.reservations ?? []), ...ended],
    };
  };

  return withAwaitedOfBatch([...events].flatMap((event) => decide(event) ?? []));
};

import type { Change } from '../data/ledger/transactions.ts';
import { type ResponseName, responseKeyText } from '../data/requests/counted-responses.ts';
import type { RequestName } from '../data/requests/requests.ts';
import { countedOnceBy, isEndedBatch } from '../domain/price/charged-once.ts';
import type { RequestRecord } from '../domain/spend/request-record.ts';
import { BILLABLE } from '../domain/usage/billable-items.ts';
import type { PricedUsage } from '../domain/usage/usage.ts';
import { type AccountCloseEvent, type AccountRequestEvent, isClose, nameOf } from './attribute-events.ts';
import { plausible, recordOfClose, recordOfOpen } from './build-record.ts';

/**
 * What the ledger already holds for the requests of a batch. Anything not in it is assumed to be absent; the ledger refuses the change
 * where that is wrong.
 */
export interface LedgerState {
  /** By nameOf. */
  readonly records: ReadonlyMap<string, RequestRecord>;
  /** Id of the request that a response was counted with, by responseKeyText. */
  readonly countedWith: ReadonlyMap<string, string>;
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

/**
 * The response that a request returned, where it can be fetched again and has a cost; of the status of an ended batch, the results.
 * Null otherwise.
 */
export const countableResponse = (event: AccountCloseEvent, priced: PricedUsage): ResponseName | null => {
  const responseId = countedOnceBy(event);
  if (responseId === null || responseId.length > MAX_RESPONSE_ID_CHARACTERS) return null;
  // A response that was not made in the background was counted when it was made. Fetching it is free: see priceRequest.
  if (event.reading.billableItems[BILLABLE.responseBackground] === 0) return null;
  if ((priced.usage === null && !isEndedBatch(event.reading)) || priced.provenance === 'free') return null;
  return { accountId: event.accountId, provider: event.provider, responseId };
};

const finishedReservations = (
  { reservations }: AccountCloseEvent,
  { accountId, costNanoUsd }: RequestRecord,
): Change['reservations'] =>
  reservations?.map((each) => ({ ...each, accountId, costNanoUsd: costNanoUsd ?? each.unknownNanoUsd }));

/**
 * Decides what the events change in the ledger. Each request may have one event; an event that adds nothing new has no change.
 * Records come out at overflow level 0 and without allocation dimensions: counter slots set both.
 */
export const decideChanges = (
  events: Iterable<AccountRequestEvent>,
  state: LedgerState,
  { price, recordedAt, expiresAt }: Terms,
): Change[] => {
  const countedWith = new Map(state.countedWith);

  const decide = (event: AccountRequestEvent): Change | null => {
    const before = state.records.get(nameOf(event)) ?? null;
    const context = {
      recordedAt,
      expiresAt: expiresAt(event),
      revision: (before?.revision ?? 0) + 1,
      overflowLevel: 0,
    };
    if (!isClose(event)) return before ? null : { before, after: recordOfOpen(event, context) };
    // The first close event counts: no later event changes a record whose outcome is known.
    if (before && before.outcome !== 'unknown') return null;
    const priced = plausible(price(event));
    const response = countableResponse(event, priced);
    const first = response && countedWith.get(responseKeyText(response));
    const repeatOf = first && first !== event.requestId ? first : null;
    const change = (after: RequestRecord): Change => ({
      before,
      after,
      reservations: finishedReservations(event, after),
    });
    if (!response || first !== undefined || priced.usage === null)
      return change(recordOfClose(event, priced, repeatOf, context));
    countedWith.set(responseKeyText(response), event.requestId);
    return { ...change(recordOfClose(event, priced, null, context)), countsResponse: response.responseId };
  };

  return [...events].flatMap((event) => decide(event) ?? []);
};

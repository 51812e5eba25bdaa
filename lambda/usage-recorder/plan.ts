import type { Change } from '../data/ledger/transactions.ts';
import { type ResponseName, responseKeyText } from '../data/requests/counted-responses.ts';
import { countedOnceBy } from '../domain/price/charged-once.ts';
import { dimensionsOf } from '../domain/spend/contribution.ts';
import type { SpendDimensions } from '../domain/spend/dimensions.ts';
import type { RequestRecord } from '../domain/spend/request-record.ts';
import { BILLABLE } from '../domain/usage/billable-items.ts';
import type { PricedUsage } from '../domain/usage/usage.ts';
import { plausible, recordOfClose, recordOfOpen } from './build-record.ts';
import { type AccountCloseEvent, type AccountOpenEvent, isClose, nameOf } from './events.ts';

export type Event = AccountOpenEvent | AccountCloseEvent;

/** What the ledger holds already of what a batch speaks of. What is not in it is taken to be absent; the write is refused where that is wrong. */
export interface LedgerState {
  /** By nameOf. */
  readonly records: ReadonlyMap<string, RequestRecord>;
  /** Request id by responseKeyText. */
  readonly answers: ReadonlyMap<string, string>;
}

/** An event that has something to say to the ledger: on top of which record, and at what price. */
export interface Plan {
  readonly event: Event;
  readonly before: RequestRecord | null;
  readonly dimensions: SpendDimensions;
  /** Null for an open event. */
  readonly priced: PricedUsage | null;
  readonly repeatOf: string | null;
  readonly countsResponse: string | undefined;
}

const MAX_RESPONSE_ID_CHARACTERS = 256;

/** The answer a request shows, where it is one that can be fetched again and costs something. */
export const countableResponse = (event: AccountCloseEvent, priced: PricedUsage): ResponseName | null => {
  const responseId = countedOnceBy(event);
  if (responseId === null || responseId.length > MAX_RESPONSE_ID_CHARACTERS) return null;
  // What was not made in the background was counted when it was made, and fetching it is free: see priceRequest.
  if (event.reading.billableItems[BILLABLE.responseBackground] === 0) return null;
  if (priced.usage === null || priced.provenance === 'free') return null;
  return { accountId: event.accountId, provider: event.provider, responseId };
};

const planOpen = (event: AccountOpenEvent, before: RequestRecord | null): Plan | null =>
  before
    ? null
    : {
        event,
        before,
        dimensions: dimensionsOf({ ...event, reading: null }),
        priced: null,
        repeatOf: null,
        countsResponse: undefined,
      };

/** Turns events, one for each request, into what is to be written; events that say nothing new are left out. */
export const planEvents = (
  events: Iterable<Event>,
  state: LedgerState,
  price: (event: AccountCloseEvent) => PricedUsage,
): Plan[] => {
  const answers = new Map(state.answers);
  const planClose = (event: AccountCloseEvent, before: RequestRecord | null): Plan | null => {
    // A record that knows its end is never changed by another event: the first close event counts.
    if (before && before.outcome !== 'unknown') return null;
    const priced = plausible(price(event));
    const answer = countableResponse(event, priced);
    const countedWith = answer ? answers.get(responseKeyText(answer)) : undefined;
    const isFirst = answer !== null && countedWith === undefined;
    if (answer && isFirst) answers.set(responseKeyText(answer), event.requestId);
    return {
      event,
      before,
      dimensions: dimensionsOf(event),
      priced,
      repeatOf: countedWith !== undefined && countedWith !== event.requestId ? countedWith : null,
      countsResponse: isFirst ? answer.responseId : undefined,
    };
  };
  const plans: Plan[] = [];
  for (const event of events) {
    const before = state.records.get(nameOf(event)) ?? null;
    const plan = isClose(event) ? planClose(event, before) : planOpen(event, before);
    if (plan) plans.push(plan);
  }
  return plans;
};

/** The record a plan comes to, once it is known how far its dimensions must be folded. */
export const toChange = (
  { event, before, priced, repeatOf, countsResponse }: Plan,
  overflowLevel: number,
  times: { readonly recordedAt: string; readonly expiresAt: number },
): Change => {
  const context = { ...times, overflowLevel, revision: (before?.revision ?? 0) + 1 };
  const after =
    isClose(event) && priced
      ? recordOfClose(event, priced, repeatOf, context)
      : recordOfOpen(event as AccountOpenEvent, context);
  return { before, after, countsResponse };
};

import type { Change } from '../data/ledger/transactions.ts';
import { type AnswerName, answerKeyText } from '../data/requests/counted-responses.ts';
import { countedOnceBy } from '../domain/price/charged-once.ts';
import { dimensionsOf } from '../domain/spend/contribution.ts';
import type { SpendDimensions } from '../domain/spend/dimensions.ts';
import type { RequestRecord } from '../domain/spend/request-record.ts';
import { EXTRA } from '../domain/usage/billable-items.ts';
import type { PricedUsage } from '../domain/usage/usage.ts';
import { believable, recordOfClose, recordOfOpen } from './build-record.ts';
import { type AccountCloseEvent, type AccountOpenEvent, isClose, nameOf } from './events.ts';

export type Event = AccountOpenEvent | AccountCloseEvent;

/** What the ledger holds already of what a batch speaks of. What is not in it is taken to be absent; the write is refused where that is wrong. */
export interface LedgerState {
  /** By nameOf. */
  readonly records: ReadonlyMap<string, RequestRecord>;
  /** Request id by answerKeyText. */
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
  readonly countsAnswer: string | undefined;
}

const MAX_ANSWER_ID_CHARACTERS = 256;

/** The answer a request shows, where it is one that can be fetched again and costs something. */
export const countableAnswer = (event: AccountCloseEvent, priced: PricedUsage): AnswerName | null => {
  const answerId = countedOnceBy(event);
  if (answerId === null || answerId.length > MAX_ANSWER_ID_CHARACTERS) return null;
  // What was not made in the background was counted when it was made, and fetching it is free: see priceRequest.
  if (event.reading.extras[EXTRA.responseBackground] === 0) return null;
  if (priced.usage === null || priced.provenance === 'free') return null;
  return { accountId: event.accountId, provider: event.provider, answerId };
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
        countsAnswer: undefined,
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
    const priced = believable(price(event));
    const answer = countableAnswer(event, priced);
    const countedWith = answer ? answers.get(answerKeyText(answer)) : undefined;
    const isFirst = answer !== null && countedWith === undefined;
    if (answer && isFirst) answers.set(answerKeyText(answer), event.requestId);
    return {
      event,
      before,
      dimensions: dimensionsOf(event),
      priced,
      repeatOf: countedWith !== undefined && countedWith !== event.requestId ? countedWith : null,
      countsAnswer: isFirst ? answer.answerId : undefined,
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
  { event, before, priced, repeatOf, countsAnswer }: Plan,
  foldLevel: number,
  times: { readonly recordedAt: string; readonly expiresAt: number },
): Change => {
  const context = { ...times, foldLevel, revision: (before?.revision ?? 0) + 1 };
  const after =
    isClose(event) && priced
      ? recordOfClose(event, priced, repeatOf, context)
      : recordOfOpen(event as AccountOpenEvent, context);
  return { before, after, countsAnswer };
};

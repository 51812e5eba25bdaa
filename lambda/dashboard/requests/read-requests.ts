import type { openRequests } from '../../data/requests/requests.ts';
import { plans } from '../../domain/billing/plans.ts';
import { instantsOf } from '../../domain/calendar/range.ts';
import { DAY_MS } from '../../domain/calendar/units.ts';
import { NotFoundError } from '../../domain/errors.ts';
import type { Implementation } from '../../http/operation.ts';
import type * as operations from './operations.ts';
import { requestSummary, requestView } from './request-view.ts';

interface RequestDependencies {
  readonly requests: Pick<ReturnType<typeof openRequests>, 'find' | 'page'>;
  readonly now: () => Date;
}

/** The retention of a record starts when it is recorded, which may be two weeks after the request. */
const LONGEST_KEPT_MS = (Math.max(...Object.values(plans).map((plan) => plan.requestRetentionDays)) + 15) * DAY_MS;

/** Cuts a range to the days that can have records. Each day costs a read, and a range may cover thousands of years. */
const cutToRetention = ({ from, to }: { readonly from: string; readonly to: string }, now: Date) => {
  const iso = (ms: number) => new Date(ms).toISOString();
  const [earliest, latest] = [iso(now.getTime() - LONGEST_KEPT_MS), iso(now.getTime() + DAY_MS)];
  return { from: from < earliest ? earliest : from, to: to > latest ? latest : to };
};

/** An empty value selects requests without one. */
const valueOrNone = (value: string | undefined) => (value === '' ? null : value);

export const listRequests =
  ({ requests, now }: RequestDependencies): Implementation<typeof operations.listRequests> =>
  async ({ caller: { accountId }, query: { from, to, limit, cursor, key, ...query } }) => {
    const { items, nextCursor } = await requests.page(accountId, {
      ...cutToRetention(instantsOf({ from, to }, now()), now()),
      limit,
      cursor,
      filter: {
        ...query,
        model: valueOrNone(query.model),
        tag: valueOrNone(query.tag),
        keyId: valueOrNone(key),
        providerKey: valueOrNone(query.providerKey),
        client: valueOrNone(query.client),
        session: valueOrNone(query.session),
        agent: valueOrNone(query.agent),
      },
    });
    return { items: items.map(requestSummary), nextCursor };
  };

export const readRequest =
  ({ requests }: RequestDependencies): Implementation<typeof operations.readRequest> =>
  async ({ caller: { accountId }, params: { requestId } }) => {
    const record = await requests.find(accountId, requestId);
    if (record === undefined) throw new NotFoundError('There is no such request. Its retention may have ended.');
    return requestView(record);
  };

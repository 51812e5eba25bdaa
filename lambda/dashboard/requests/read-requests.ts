import type { requestRepository } from '../../data/requests.ts';
import { NotFoundError } from '../../domain/errors.ts';
import { instantsOf } from '../../domain/spend-span.ts';
import type { Implementation } from '../../http/operation.ts';
import type * as operations from './operations.ts';
import { requestSummary, requestView } from './request-view.ts';

interface RequestDependencies {
  readonly requests: Pick<ReturnType<typeof requestRepository>, 'find' | 'page'>;
  readonly now: () => Date;
}

/** An empty value asks for requests that have none. */
const valueOrNone = (value: string | undefined) => (value === '' ? null : value);

export const listRequests =
  ({ requests, now }: RequestDependencies): Implementation<typeof operations.listRequests> =>
  async ({ caller: { accountId }, query: { from, to, limit, cursor, key, ...query } }) => {
    const { items, nextCursor } = await requests.page(accountId, {
      ...instantsOf({ from, to }, now()),
      limit,
      cursor,
      filter: {
        ...query,
        model: valueOrNone(query.model),
        tag: valueOrNone(query.tag),
        keyId: valueOrNone(key),
        providerKey: valueOrNone(query.providerKey),
      },
    });
    return { items: items.map(requestSummary), nextCursor };
  };

export const readRequest =
  ({ requests }: RequestDependencies): Implementation<typeof operations.readRequest> =>
  async ({ caller: { accountId }, params: { requestId } }) => {
    const record = await requests.find(accountId, requestId);
    if (record === undefined) throw new NotFoundError('There is no such request. It may be past its retention.');
    return requestView(record);
  };

import { hasKey, scopeOf } from '../../domain/accounts/scope.ts';
import { instantsOf } from '../../domain/calendar/range.ts';
import { invalid, NotFoundError } from '../../domain/errors.ts';
import { keysIn, needsKeys } from '../../domain/spend/key-dimensions.ts';
import { keptRange, type RequestRecord } from '../../domain/spend/request-record.ts';
import type { Implementations } from '../../http/operation.ts';
import type { Reading } from '../open-reading.ts';
import type * as operations from './operations.ts';
import { requestSummary, requestView } from './request-view.ts';

const tokensOf = ({ usage }: RequestRecord): number | null =>
  usage ? (usage.inputTokens ?? 0) + (usage.outputTokens ?? 0) : null;

const measures = {
  cost: ({ costNanoUsd }: RequestRecord) => costNanoUsd,
  tokens: tokensOf,
  duration: ({ totalMs }: RequestRecord) => totalMs,
};

/** An empty value selects requests without one. */
const valueOrNone = (value: string | undefined) => (value === '' ? null : value);

export const readRequests = ({ requests, findCurrency, keys, now }: Reading): Implementations<typeof operations> => ({
  listRequests: async ({
    caller,
    query: { from, to, limit, cursor, key, project, member, orderBy = 'time', ...query },
  }) => {
    const { accountId } = caller;
    const { sees } = scopeOf(caller);
    const isSplit = needsKeys({ project, member });
    const chosen = isSplit ? keysIn({ project, member }, await keys.list(accountId)).map(({ keyId }) => keyId) : [];
    const currency = await findCurrency(accountId);
    if (orderBy !== 'time' && cursor !== undefined) throw invalid('cursor', 'only orderBy=time has further pages');
    const wanted = {
      ...keptRange(instantsOf({ from, to }, now()), now()),
      limit,
      filter: {
        ...query,
        model: valueOrNone(query.model),
        tag: valueOrNone(query.tag),
        keyId: valueOrNone(key),
        keyIds: isSplit ? new Set(chosen.filter((keyId) => hasKey(sees, keyId))) : sees.keyIds,
        providerKey: valueOrNone(query.providerKey),
        client: valueOrNone(query.client),
        session: valueOrNone(query.session),
        agent: valueOrNone(query.agent),
      },
    };
    const { items, ...page } =
      orderBy === 'time'
        ? { ...(await requests.page(accountId, { ...wanted, cursor })), examinedFrom: null }
        : { ...(await requests.highest(accountId, { ...wanted, measure: measures[orderBy] })), nextCursor: null };
    return { items: items.map((record) => requestSummary(record, currency)), ...page };
  },

  readRequest: async ({ caller, params: { requestId } }) => {
    const { accountId } = caller;
    const record = await requests.find(accountId, requestId);
    if (record === undefined || !hasKey(scopeOf(caller).sees, record.keyId))
      throw new NotFoundError('There is no such request. Its retention may have ended.');
    return requestView(record, await findCurrency(accountId));
  },
});

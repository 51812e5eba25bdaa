import type { openRequests } from '../../data/requests/requests.ts';
import { scopeOf } from '../../domain/accounts/scope.ts';
import { coveringRange } from '../../domain/calendar/range.ts';
import { DAY_MS } from '../../domain/calendar/units.ts';
import { isAbovePrice } from '../../domain/limits/access.ts';
import { accessPreview } from '../../domain/limits/access-rules.ts';
import { BACKTEST_DAYS } from '../../domain/limits/backtest.ts';
import { modelOf, type RequestRecord } from '../../domain/spend/request-record.ts';
import type { Implementation } from '../../http/operation.ts';
import type { Settings } from '../open-settings.ts';
import type * as operations from './access-preview-operations.ts';
import { requireKnown } from './manage-access.ts';

type Needs = Pick<Settings, 'readCounters' | 'keys' | 'projects' | 'now'> & {
  readonly requests: ReturnType<typeof openRequests>;
};

const DEAREST = 10;

export const previewAccessRule =
  ({ readCounters, requests, keys, projects, now }: Needs): Implementation<typeof operations.previewAccessRule> =>
  async ({ caller, body }) => {
    const { accountId } = caller;
    const at = now();
    const rule = { ...body, id: '', createdAt: at.toISOString() };
    await requireKnown({ keys, projects }, accountId, rule.scope);
    const preview = accessPreview(rule, await keys.list(accountId));
    const range = coveringRange('day', new Date(at.getTime() - BACKTEST_DAYS * DAY_MS), new Date(at.getTime() + 1));
    for await (const counter of readCounters({ accountId, range, groupBy: ['provider', 'model', 'keyId'] }))
      preview.add(counter);
    if (rule.maxRequestUsd === null || !scopeOf(caller).permits('requests:read'))
      return { from: range.from, to: at.toISOString(), ...preview.result(), dearest: null };
    const aboveOf = ({ keyId, costNanoUsd }: Pick<RequestRecord, 'keyId' | 'costNanoUsd'>): number | null =>
      costNanoUsd !== null && preview.concerns(keyId) && isAbovePrice(rule, costNanoUsd) ? costNanoUsd : null;
    const { items, examinedFrom } = await requests.highest(accountId, {
      from: range.from,
      to: range.to,
      filter: {},
      limit: DEAREST,
      measure: aboveOf,
    });
    const dearest = items.flatMap((record) => {
      const { requestId: id, startedAt, provider } = record;
      const costNanoUsd = aboveOf(record);
      return costNanoUsd === null ? [] : [{ id, startedAt, provider, model: modelOf(record), costNanoUsd }];
    });
    return { from: range.from, to: at.toISOString(), ...preview.result(), dearest: { items: dearest, examinedFrom } };
  };

import type { openRequests } from '../../data/requests/requests.ts';
import { scopeOf } from '../../domain/accounts/scope.ts';
import { coveringRange } from '../../domain/calendar/range.ts';
import { DAY_MS } from '../../domain/calendar/units.ts';
import { concernsKey } from '../../domain/limits/access.ts';
import { accessPreview } from '../../domain/limits/access-rules.ts';
import { BACKTEST_DAYS } from '../../domain/limits/backtest.ts';
import { modelOf } from '../../domain/spend/request-record.ts';
import type { Implementation } from '../../http/operation.ts';
import type { Settings } from '../open-settings.ts';
import type * as operations from './access-preview-operations.ts';
import { requireKnown } from './manage-access.ts';

type Needs = Pick<Settings, 'readCounters' | 'keys' | 'projects' | 'now'> & {
  readonly requests: ReturnType<typeof openRequests>;
};

const DEAREST = 10;
const NANO_USD = 1e9;

export const previewAccessRule =
  ({ readCounters, requests, keys, projects, now }: Needs): Implementation<typeof operations.previewAccessRule> =>
  async ({ caller, body }) => {
    const { accountId } = caller;
    const at = now();
    const rule = { ...body, id: '', createdAt: at.toISOString() };
    await requireKnown({ keys, projects }, caller, rule.scope);
    const serviceKeys = await keys.list(accountId);
    const preview = accessPreview(rule, serviceKeys);
    const range = coveringRange('day', new Date(at.getTime() - BACKTEST_DAYS * DAY_MS), new Date(at.getTime() + 1));
    for await (const counter of readCounters({ accountId, range, groupBy: ['provider', 'model', 'keyId'] }))
      preview.add(counter);
    const { maxRequestUsd } = rule;
    if (maxRequestUsd === null || !scopeOf(caller).permits('requests:read'))
      return { from: range.from, to: at.toISOString(), ...preview.result(), dearest: null };
    const concerned = new Set(serviceKeys.filter((key) => concernsKey(rule, key)).map(({ keyId }) => keyId));
    const { items, examinedFrom } = await requests.highest(accountId, {
      from: range.from,
      to: range.to,
      filter: {},
      limit: DEAREST,
      measure: ({ keyId, costNanoUsd }) => (concerned.has(keyId ?? '') ? costNanoUsd : null),
    });
    const dearest = items.flatMap(({ requestId, startedAt, provider, keyId, costNanoUsd, ...record }) =>
      concerned.has(keyId ?? '') && costNanoUsd !== null && costNanoUsd > maxRequestUsd * NANO_USD
        ? [{ id: requestId, startedAt, provider, model: modelOf(record), costNanoUsd }]
        : [],
    );
    return { from: range.from, to: at.toISOString(), ...preview.result(), dearest: { items: dearest, examinedFrom } };
  };

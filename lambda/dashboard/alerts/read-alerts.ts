import { hasFilter, scopeOf } from '../../domain/accounts/scope.ts';
import type { Alert } from '../../domain/alerts/alert.ts';
import { coveringRange, isKept } from '../../domain/calendar/range.ts';
import { DAY_MS } from '../../domain/calendar/units.ts';
import { NotFoundError } from '../../domain/errors.ts';
import { evaluatorOf, isRuleIn } from '../../domain/limits/rule.ts';
import { spendSeries, splitDimension } from '../../domain/limits/spend-series.ts';
import { ifExact } from '../../domain/spend/counters.ts';
import { dimensionOf } from '../../domain/spend/dimensions.ts';
import { usdOf } from '../../domain/spend/spend-report.ts';
import type { Caller, Implementation, Implementations } from '../../http/operation.ts';
import type { Settings } from '../open-settings.ts';
import type * as operations from './operations.ts';

/**
 * Final sum of an alert's period, from the counters that GET /spend adds up: with usage that was recorded late, and prices that changed.
 * Null while the period lasts, where the rule was changed or deleted, and where the counters are gone.
 */
const finalFigure =
  ({ readCounters, rules, now }: Settings) =>
  async ({ accountId, ruleId, triggeredAt, period, of }: Alert) => {
    // Sessions' counters are kept by day, and by no dimension of spend.
    if (period.end > now().toISOString() || of?.dimension === 'session') return null;
    const rule = (await rules.list(accountId)).find((each) => each.ruleId === ruleId);
    if (rule === undefined || rule.effectiveFrom > triggeredAt) return null;
    const evaluator = evaluatorOf(rule.condition);
    const dimension = splitDimension(of?.dimension);
    const filter = dimension && of ? { ...evaluator.filter, [dimension]: of.value } : evaluator.filter;
    const { granularity, lookbackDays, readBy } = evaluator;
    const from = new Date(Date.parse(period.start) - lookbackDays * DAY_MS);
    const range = coveringRange(granularity, from, new Date(period.end));
    if (!isKept(range, now())) return null;
    const series = spendSeries({ granularity, filter });
    for await (const counter of readCounters({ accountId, range, groupBy: readBy })) series.add(counter);
    // The history of a value has no part in what it came to.
    const judged = ifExact(() => evaluator.judge({ period, now: now(), series, usual: 0 }));
    if (!judged) return null;
    const { figure, unit, unpricedRequests } = judged;
    return { figure, figureUsd: unit === 'nanoUsd' ? usdOf(figure) : null, unpricedRequests };
  };

/** An error may name who did not get a mail: with their address for those only who may read who is a member. */
const viewFor =
  (caller: Caller) =>
  ({ alertId, accountId: _, deliveries, ...alert }: Alert) => ({
    ...alert,
    deliveries: scopeOf(caller).permits('members:read')
      ? deliveries
      : deliveries.map(({ error, ...of }) => ({ ...of, error: error?.replaceAll(/\S+@\S+/g, 'a member') ?? null })),
    id: alertId,
    figureUsd: alert.unit === 'nanoUsd' ? usdOf(alert.figure) : null,
    limitUsd: alert.unit === 'nanoUsd' ? usdOf(alert.limit) : null,
  });

/** Tells which alerts a caller sees: of a part of an account, those of its rules and values. */
const seenBy = async ({ rules }: Pick<Settings, 'rules'>, caller: Caller) => {
  const { sees } = scopeOf(caller);
  if (sees.keyIds === undefined) return () => true;
  const seen = (await rules.list(caller.accountId)).filter(({ condition }) => isRuleIn(sees, condition));
  // With another filter before, the rule may have been about more.
  const seenFrom = new Map<string | null, string>(seen.map(({ ruleId, effectiveFrom }) => [ruleId, effectiveFrom]));
  return ({ ruleId, of, triggeredAt }: Alert): boolean =>
    triggeredAt >= (seenFrom.get(ruleId) ?? '~') ||
    (of !== undefined && hasFilter(sees, { [dimensionOf(of.dimension)]: of.value }));
};

/** @throws NotFoundError for an alert that the caller does not see, too */
const findSeen = async (
  dependencies: Pick<Settings, 'alerts' | 'rules'>,
  caller: Caller,
  id: string,
): Promise<Alert> => {
  const isSeen = await seenBy(dependencies, caller);
  const alert = await dependencies.alerts.find(caller.accountId, id);
  if (!isSeen(alert)) throw new NotFoundError('There is no such alert.');
  return alert;
};

export const listAlerts =
  (dependencies: Pick<Settings, 'alerts' | 'rules'>): Implementation<typeof operations.listAlerts> =>
  async ({ caller, query: { status, ...query } }) => {
    const isSeen = await seenBy(dependencies, caller);
    const isWanted = (alert: Alert) => (status === undefined || alert.status === status) && isSeen(alert);
    const { items, ...page } = await dependencies.alerts.page(caller.accountId, query, isWanted);
    return { items: items.map(viewFor(caller)), ...page };
  };

export const manageAlerts = (settings: Settings): Implementations<typeof operations> => ({
  listAlerts: listAlerts(settings),

  getAlert: async ({ caller, params: { id } }) => {
    const alert = await findSeen(settings, caller, id);
    return { ...viewFor(caller)(alert), final: await finalFigure(settings)(alert) };
  },

  acknowledgeAlert: async ({ caller, params: { id } }) => {
    const { accountId, userId } = caller;
    await findSeen(settings, caller, id);
    const at = settings.now().toISOString();
    return viewFor(caller)(await settings.alerts.acknowledge(accountId, id, { userId, at }));
  },
});

import { hash } from 'node:crypto';
import QuickLRU from 'quick-lru';
import { uuidv7 } from 'uuidv7';
import { openValueNames } from '../data/accounts/value-names.ts';
import { openAlerts } from '../data/alerts/alerts.ts';
import { openBlocks } from '../data/alerts/blocks.ts';
import { openRules } from '../data/alerts/rules.ts';
import { openLimitValues } from '../data/ledger/limit-values.ts';
import type { Table } from '../data/table/table.ts';
import { type Alert, triggeredAlert } from '../domain/alerts/alert.ts';
import { orUndefined } from '../domain/errors.ts';
import type { EachLimit } from '../domain/limits/block.ts';
import { atPercent, hasReached, limitPeriodAt, type ValueCount } from '../domain/limits/each.ts';
import { assumedText, leftOutOf } from '../domain/limits/limit.ts';
import { type ValueState, valueState } from '../domain/limits/limit-states.ts';
import { periodId } from '../domain/limits/reservation.ts';
import { useBy } from '../domain/limits/value-counts.ts';
import { percentText, usdOf } from '../domain/spend/spend-report.ts';
import { type Observer, tasksFor } from './observers.ts';

/** A forgotten name costs a write that changes nothing. */
const MAX_REMEMBERED = 10_000;

const summaryOf = (
  { each, enforcement, percent, unknownCost }: EachLimit,
  { value, percentUsed, usedNanoUsd, unpricedRequests, nanoUsd, isAtLimit }: ValueState,
  label: string | undefined,
) => {
  const stops = enforcement !== null && isAtLimit;
  const refused = stops ? ' Its further requests are refused until the period ends or it gets more.' : '';
  const shown = label === undefined ? (value ?? '(none)') : `“${label}”`;
  const [name, amount] = [`${each.replace(/^dim:/, '')} ${shown}`, `$${usdOf(nanoUsd ?? 0)}`];
  if (isAtLimit && usedNanoUsd < atPercent({ amountNanoUsd: nanoUsd ?? 0 }, percent))
    return `${name} counts as having used ${amount}, since the cost of some requests is unknown.${refused}`;
  return `${name} has used ${percentText(percentUsed ?? 100)} of ${amount}: $${usdOf(usedNanoUsd)}.${assumedText(unknownCost, unpricedRequests)}${refused}`;
};

/**
 * Alerts for values of limits of each that reach a percentage of their amount: once in a period for each value, percentage and amount. Only
 * the values of requests that were just recorded are looked at. The rule evaluator delivers the alerts like any other.
 */
export const openValueAlerts = (table: Table, now: () => Date = () => new Date()): Observer => {
  const [blocks, rules, alerts] = [openBlocks(table), openRules(table), openAlerts(table)];
  const values = openLimitValues(table, () => now().getTime());
  const namesOf = openValueNames(table);
  const notified = new QuickLRU<string, true>({ maxSize: MAX_REMEMBERED });

  const alertOf = async (accountId: string, limit: EachLimit, state: ValueState, percent: number) => {
    const rule = await orUndefined(rules.find(accountId, limit.id));
    const period = limitPeriodAt(limit.period, now());
    if (!rule?.isActive || period === null) return null;
    const names = await namesOf(accountId, limit.each);
    const facts: Omit<Alert, 'status' | 'acknowledgedAt' | 'acknowledgedBy' | 'deliveries'> = {
      ...{ alertId: uuidv7(), accountId, ruleId: limit.id, ruleName: rule.name, type: 'budget', event: 'reached' },
      ...{ percent, triggeredAt: now().toISOString(), period, unit: 'nanoUsd' },
      figure: state.usedNanoUsd,
      limit: state.nanoUsd ?? 0,
      unpricedRequests: leftOutOf(limit.unknownCost, state.unpricedRequests),
      summary: summaryOf(limit, state, names.get(state.value ?? '')),
      contributors: [],
    };
    return triggeredAlert(facts, rule.channels);
  };

  const check = async (accountId: string, limit: EachLimit, { budgetId, periodId: id, value }: ValueCount) => {
    const period = limitPeriodAt(limit.period, now());
    // A late event changes nothing that anybody can still do.
    if (period === null || periodId(period) !== id) return;
    const [counted, override] = await Promise.all([
      values.read(accountId, budgetId, id, value),
      values.findOverride(accountId, budgetId, value),
    ]);
    const state = valueState(limit, counted, override, { period, now: now() });
    const { nanoUsd, usedNanoUsd, unpricedRequests, isAtLimit } = state;
    // What has used nothing has reached nothing, also of an amount of 0.
    if (nanoUsd === null || (usedNanoUsd === 0 && unpricedRequests === 0)) return;
    const use = { usedNanoUsd, isUsedUp: isAtLimit };
    const reached = limit.notifyAt.filter((each) => hasReached({ amountNanoUsd: nanoUsd }, use, each, limit.percent));
    if (reached.length === 0) return;
    const percent = Math.max(...reached);
    const of = hash('sha256', JSON.stringify(value)).slice(0, 32);
    const guard = `${budgetId}.each_${percent}_${nanoUsd}_${of}`;
    const known = `${accountId} ${period.start} ${guard}`;
    if (notified.has(known)) return;
    const alert = await alertOf(accountId, limit, state, percent);
    // A budget that was switched off meanwhile may be on again in the period. A deleted budget is not.
    if (!alert) return;
    await alerts.notify(alert, guard);
    notified.set(known, true);
  };

  const checkAccount = async (accountId: string, counts: ReadonlyMap<string, ValueCount>): Promise<void> => {
    const limits = new Map((await blocks.read(accountId)).each.map((limit) => [limit.id, limit]));
    await Promise.all(
      [...counts.values()].map(async (count) => {
        const limit = limits.get(count.budgetId);
        if (limit && limit.notifyAt.length > 0) await check(accountId, limit, count);
      }),
    );
  };

  return {
    name: 'value alerts',
    observe: ({ seen }) => {
      const byAccount = new Map<string, Map<string, ValueCount>>();
      for (const record of seen)
        for (const count of record.countedFor) {
          // A value may be used up by earlier requests that were counted late, or by a lower amount: then only refused ones come.
          const { usedNanoUsd, unpricedRequests } = useBy(record, count);
          if (usedNanoUsd === 0 && unpricedRequests === 0 && record.outcome !== 'refused') continue;
          const counts = byAccount.get(record.accountId) ?? new Map<string, ValueCount>();
          byAccount.set(record.accountId, counts);
          counts.set(JSON.stringify([count.budgetId, count.periodId, count.value]), count);
        }
      return tasksFor(byAccount, ([accountId, counts]) => checkAccount(accountId, counts));
    },
  };
};

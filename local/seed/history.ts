import { V7Generator } from 'uuidv7';
import { openAlerts } from '../../lambda/data/alerts/alerts.ts';
import { openRules, type Rule } from '../../lambda/data/alerts/rules.ts';
import type { Table } from '../../lambda/data/table/table.ts';
import { DAY_MS, HOUR_MS } from '../../lambda/domain/calendar/units.ts';
import { evaluateAccount } from '../../lambda/rule-evaluator/evaluate-account.ts';
import { evaluationDependencies } from '../../lambda/rule-evaluator/open-judge.ts';

/** Someone sees to an alert some hours after it; those of the last days are still open. */
const SEEN_AFTER_MS = 5 * HOUR_MS;
const OPEN_MS = 3 * DAY_MS;

// Rules watch from their creation on; these have, for the time of this, always been there.
const withPast = (rule: Rule): Rule => ({ ...rule, effectiveFrom: new Date(0).toISOString() });

/** Lets an account's rules look at what is recorded so far with the clock set back, so that their alerts come at their time. */
export const pastEvaluator = (
  table: Table,
  account: { readonly accountId: string; readonly userId: string },
  now: Date,
) => {
  const { accountId, userId } = account;
  const ids = new V7Generator();
  const alerts = openAlerts(table);
  const rules = openRules(table);
  let clock = now;
  const evaluate = evaluateAccount({
    ...evaluationDependencies(table),
    alerts,
    blocks: { change: async () => {} },
    reservations: { compare: async () => async () => {} },
    measures: { note: async () => {} },
    newAlertId: () => ids.generateOrResetWithTs(clock.getTime()).toString(),
  });

  /** @returns how many alerts fired */
  const evaluateAt = async (at: Date): Promise<number> => {
    clock = at;
    const active = (await rules.list(accountId)).filter(({ isActive }) => isActive);
    const { fired } = await evaluate(accountId, active.map(withPast), at);
    if (at.getTime() < now.getTime() - OPEN_MS) {
      const seenAt = new Date(at.getTime() + SEEN_AFTER_MS).toISOString();
      for (const { alertId } of fired) await alerts.acknowledge(accountId, alertId, { userId, at: seenAt });
    }
    return fired.length;
  };
  /** Stores that the rules have always been there: alerts compare with that. Last, since the running evaluator judges by it. */
  const keepPast = async (): Promise<void> => {
    for (const rule of await rules.list(accountId)) await rules.replace(withPast(rule), rule.revision);
  };
  return { evaluateAt, keepPast };
};

import QuickLRU from 'quick-lru';
import * as z from 'zod/mini';
import { type Alert, alertSchema, resolvingDeliveries } from '../../domain/alerts/alert.ts';
import type { Period } from '../../domain/calendar/periods.ts';
import { DAY_SECONDS } from '../../domain/calendar/units.ts';
import { NotFoundError } from '../../domain/errors.ts';
import { type AlertReason, alertName, eventName } from '../../domain/limits/evaluator.ts';
import { storedName, withCurrentNames } from '../../domain/spend/former-names.ts';
import { check, IS_NEW, put, update } from '../table/actions.ts';
import { batchRead } from '../table/batch.ts';
import { accountKey, alertKey, firedKey, HIGHEST_ID, type Key, ruleKey } from '../table/keys.ts';
import { pageCursor } from '../table/page-cursor.ts';
import { findItem, readItem } from '../table/read.ts';
import type { Table } from '../table/table.ts';
import { RETRY, retryConflicts, tryTransact, tryWrite } from '../table/write.ts';
import { DELIVERY_ROUNDS, undeliveredKey } from './alert-deliveries.ts';
import type { Rule } from './rules.ts';

/** The id of the last alert of a page. The next page begins below it, so new or changed alerts do not shift it. */
const alertCursor = pageCursor(z.uuid());

export interface AlertPage {
  readonly items: Alert[];
  /** Null on the last page. A page may be short, even empty, and still have a next page. */
  readonly nextCursor: string | null;
  /** How many more this version cannot read. */
  readonly unreadable?: number | undefined;
}

/** A page reads no more alerts than this, so that a filter with few matches does not make it slow. */
const MAX_EXAMINED = 1_000;
/** How many fired periods a rule keeps: more than are ever judged at once, which is 28 hours after an outage. */
const FIRED_PERIODS = 32;
/** How long the item that prevents a second alert outlives its period: longer than the period is judged. */
const GUARD_DAYS = 60;

const MAX_WRITTEN = 10_000;

/** The guard of a rule, by its condition and by what fired. A first condition has the name that version 0.1 wrote: the rule's id. */
const guardOf = (reason: AlertReason, { ruleId, conditionRevision }: Rule): string =>
  [ruleId, conditionRevision > 1 ? conditionRevision : '', eventName(reason)].filter((part) => part !== '').join('.');

const epochSeconds = (iso: string): number => Math.floor(Date.parse(iso) / 1_000);

export const openAlerts = (table: Table) => {
  const { call, name } = table;
  /** Guards of values: what has fired stays fired, and is judged again every few seconds. */
  const written = new QuickLRU<string, true>({ maxSize: MAX_WRITTEN });
  const nameOf = ({ pk, sk }: Record<string, unknown> | Key): string => `${pk} ${sk}`;

  /** Writes an alert once for a name and period. */
  const putOnce = (alert: Alert, guardName: string) => {
    const guard = {
      ...firedKey(alert.accountId, guardName, alert.period.start),
      alertId: alert.alertId,
      expiresAt: epochSeconds(alert.period.end) + GUARD_DAYS * DAY_SECONDS,
    };
    const item = {
      ...alertKey(alert.accountId, alert.alertId),
      ...Object.fromEntries(Object.entries(alert).map(([member, value]) => [storedName(member), value])),
      ...(alert.deliveries.length > 0 && undeliveredKey(alert, alert.triggeredAt)),
      deliveryRound: 0,
    };
    return [put(guard, IS_NEW), put(item, IS_NEW)];
  };

  const find = async (key: Key): Promise<{ alert: Alert; stored: unknown }> => {
    const item = await findItem(table, key);
    if (item === undefined) throw new NotFoundError('There is no such alert.');
    return { alert: readItem(() => alertSchema.parse(withCurrentNames(item))), stored: item['deliveries'] };
  };

  return {
    /**
     * Fires a rule for a period: once for a condition (a budget: once for each event), even when evaluators run in parallel. False where
     * it has fired already, or was changed, switched off or deleted since it was read.
     */
    fire: (alert: Alert, rule: Rule): Promise<boolean> => {
      const [key, isRead, { revision }] = [ruleKey(rule.accountId, rule.ruleId), 'revision = :revision', rule];
      const fired = [alertName(alert.period, alert), ...rule.firedPeriods].slice(0, FIRED_PERIODS);
      return tryTransact(table, [
        ...putOnce(alert, guardOf(alert, rule)),
        // A rule that judges values fires for any number of them: see firedFor.
        alert.of
          ? check(key, isRead, { revision })
          : update(key, 'SET firedPeriods = :fired', isRead, { fired, revision }),
      ]);
    },

    /** Those of some values for which a rule has fired in a period. */
    firedFor: async (rule: Rule, { start }: Period, values: readonly string[]): Promise<ReadonlySet<string>> => {
      const guards = new Map(
        values.map((value) => {
          const key = firedKey(rule.accountId, guardOf({ of: { value } }, rule), start);
          return [nameOf(key), { key, value }];
        }),
      );
      const known = [...guards.keys()].filter((guard) => written.has(guard));
      const others = [...guards].flatMap(([guard, { key }]) => (written.has(guard) ? [] : [key]));
      const read = (await batchRead(table, others, { consistent: true })).map(nameOf);
      for (const guard of read) written.set(guard, true);
      return new Set([...known, ...read].flatMap((guard) => guards.get(guard)?.value ?? []));
    },

    /** Writes an alert that has no rule: once for its name and period. */
    notify: (alert: Alert, guardName: string): Promise<boolean> => tryTransact(table, putOnce(alert, guardName)),

    /** Newest first. @throws NotFoundError for a cursor of another account */
    page: async (
      accountId: string,
      query: { limit: number; cursor?: string | undefined },
      isWanted: (alert: Alert) => boolean = () => true,
    ): Promise<AlertPage> => {
      const items: Alert[] = [];
      let unreadable = 0;
      const page = (nextCursor: string | null) => ({ items, nextCursor, unreadable: unreadable || undefined });
      let below = query.cursor === undefined ? HIGHEST_ID : alertCursor.read(accountId, query.cursor);
      for (let examined = 0; examined < MAX_EXAMINED; ) {
        const { Items = [], LastEvaluatedKey } = await call('Query', {
          TableName: name,
          KeyConditionExpression: 'pk = :pk AND sk BETWEEN :lowest AND :below',
          ExpressionAttributeValues: {
            ':pk': accountKey(accountId).pk,
            ':lowest': alertKey(accountId, '').sk,
            ':below': alertKey(accountId, below).sk,
          },
          ScanIndexForward: false,
          // One for the last alert of the page before, which BETWEEN includes, and one to see whether there is more.
          Limit: query.limit + 2,
          ConsistentRead: true,
        });
        for (const item of Items) {
          const alertId = String(item['alertId']);
          if (alertId === below) continue;
          const { data: alert } = alertSchema.safeParse(withCurrentNames(item));
          if (alert && isWanted(alert)) {
            if (items.length === query.limit) return page(alertCursor.write(accountId, below));
            items.push(alert);
          }
          if (!alert) unreadable += 1;
          below = alertId;
        }
        if (LastEvaluatedKey === undefined) return page(null);
        examined += Items.length;
      }
      return page(alertCursor.write(accountId, below));
    },

    /** @throws NotFoundError */
    find: async (accountId: string, alertId: string): Promise<Alert> =>
      (await find(alertKey(accountId, alertId))).alert,

    /**
     * Acknowledges an alert, and has its incident in PagerDuty resolved. An acknowledged alert stays unchanged.
     *
     * @throws NotFoundError
     */
    acknowledge: (accountId: string, alertId: string, { userId, at }: { userId: string; at: string }): Promise<Alert> =>
      retryConflicts(async () => {
        const key = alertKey(accountId, alertId);
        const { alert, stored } = await find(key);
        if (alert.status === 'acknowledged') return alert;
        const deliveries = resolvingDeliveries(alert.deliveries);
        const isPending = (some: Alert['deliveries']) => some.some(({ status }) => status === 'pending');
        // While another delivery is pending, its rounds go on.
        const begins = !isPending(alert.deliveries) && isPending(deliveries);
        const changed = {
          ...{ status: 'acknowledged', acknowledgedAt: at, acknowledgedBy: userId, deliveries },
          ...(begins && { ...undeliveredKey(alert, at), deliveryRound: DELIVERY_ROUNDS }),
        } as const;
        const set = Object.keys(changed).map((each) => `#${each} = :${each}`);
        const read = { triggered: 'triggered', stored };
        const isRead = '#status = :triggered AND #deliveries = :stored';
        const isWritten = await tryWrite(table, update(key, `SET ${set.join(', ')}`, isRead, { ...changed, ...read }));
        return isWritten ? alertSchema.parse({ ...alert, ...changed }) : RETRY;
      }),
  };
};

export type Alerts = ReturnType<typeof openAlerts>;

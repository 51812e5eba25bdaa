import { type Alert, alertSchema, type Delivery, resolvingDeliveries } from '../../domain/alerts/alert.ts';
import { type ReportRun, reportRunSchema } from '../../domain/reports/report-run.ts';
import { withCurrentNames } from '../../domain/spend/former-names.ts';
import { EXISTS, update } from '../table/actions.ts';
import {
  alertKey,
  HIGHEST_ID,
  type Key,
  reportRunKey,
  UNDELIVERED_SHARDS,
  undeliveredIndexKey,
  undeliveredIndexPartition,
} from '../table/keys.ts';
import { itemsOfIndex } from '../table/read.ts';
import { shardOf, type Table } from '../table/table.ts';
import { tryWrite } from '../table/write.ts';

/** Alerts and reports are delivered on channels. */
export type Outgoing = Alert | ReportRun;

export const isReport = (outgoing: Outgoing): outgoing is ReportRun => 'reportId' in outgoing;

export const outgoingKey = (outgoing: Outgoing): Key => {
  if (!isReport(outgoing)) return alertKey(outgoing.accountId, outgoing.alertId);
  const { accountId, reportId, content, isAskedFor, createdAt } = outgoing;
  const asked = isAskedFor ? `#${createdAt}` : '';
  return reportRunKey(accountId, reportId, `${content.period.firstDay}#${content.every}${asked}`);
};

/** Index key of what is to be delivered, due at an instant (ISO 8601). */
export const undeliveredKey = (outgoing: Outgoing, nextAttemptAt: string) =>
  undeliveredIndexKey(
    shardOf(outgoing.accountId, UNDELIVERED_SHARDS),
    nextAttemptAt,
    isReport(outgoing) ? outgoingKey(outgoing).sk : outgoing.alertId,
  );

/** Attempts of a delivery. Rounds from there on are those of what an acknowledgment adds. */
export const DELIVERY_ROUNDS = 10;

/** Alerts and reports with pending deliveries, and the claims on them. */
export const openAlertDeliveries = (table: Table) => ({
  /**
   * Alerts and reports of a shard that are due for their next attempt, with the number of rounds so far and who has the mail already.
   *
   * @param skip called with what this version cannot read; it does not keep the others from being delivered
   */
  async *undelivered(
    shard: number,
    now: Date,
    skip?: (item: string, error: unknown) => void,
  ): AsyncGenerator<{ outgoing: Outgoing; round: number; mailed: ReadonlySet<string> }> {
    const due = itemsOfIndex(table, undeliveredIndexPartition(shard), `${now.toISOString()}#${HIGHEST_ID}`);
    for await (const item of due) {
      const { data: outgoing, error } =
        'reportId' in item ? reportRunSchema.safeParse(item) : alertSchema.safeParse(withCurrentNames(item));
      const mailed = new Set(item['mailed'] as Iterable<string> | undefined);
      if (outgoing) yield { outgoing, round: Number(item['deliveryRound']), mailed };
      else skip?.(String(item['sk']), error);
    }
  },

  /** Claims a round of delivery; false where another has it. If the claimant dies, the next round comes at `nextAttemptAt`. */
  claimRound: (outgoing: Outgoing, round: number, nextAttemptAt: string): Promise<boolean> =>
    tryWrite(
      table,
      update(outgoingKey(outgoing), 'SET deliveryRound = :next, gsi1sk = :gsi1sk', 'deliveryRound = :round', {
        round,
        next: round + 1,
        gsi1sk: undeliveredKey(outgoing, nextAttemptAt).gsi1sk,
      }),
    ),

  /** Notes users who have the mail, until all have it. */
  noteMailed: async (outgoing: Outgoing, userIds: readonly string[]): Promise<void> =>
    void (await tryWrite(
      table,
      update(outgoingKey(outgoing), 'ADD mailed :users', EXISTS, { users: new Set(userIds) }),
    )),

  /**
   * Records the results of deliveries. It leaves the index once none is pending. An alert that was acknowledged meanwhile stays for what
   * that adds.
   *
   * @param nextAttemptAt when those that are still pending are due
   */
  recordDeliveries: async (
    outgoing: Outgoing,
    deliveries: readonly Delivery[],
    nextAttemptAt: string,
  ): Promise<void> => {
    const record = (results: readonly Delivery[], condition: string, status?: Alert['status']) => {
      const isDone = results.every((delivery) => delivery.status !== 'pending');
      const due = isDone ? ' REMOVE gsi1pk, gsi1sk, mailed' : ', gsi1sk = :gsi1sk';
      const gsi1sk = isDone ? undefined : undeliveredKey(outgoing, nextAttemptAt).gsi1sk;
      const values = { deliveries: results, gsi1sk, status };
      return tryWrite(table, update(outgoingKey(outgoing), `SET deliveries = :deliveries${due}`, condition, values));
    };
    if (isReport(outgoing)) return void (await record(deliveries, EXISTS));
    if (await record(deliveries, '#status = :status', outgoing.status)) return;
    await record(resolvingDeliveries(deliveries), '#status = :status', 'acknowledged');
  },
});

export type AlertDeliveries = ReturnType<typeof openAlertDeliveries>;

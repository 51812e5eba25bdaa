import { openLedger } from '../../data/ledger/ledger.ts';
import { openLimitValues, type UncountedJob } from '../../data/ledger/limit-values.ts';
import type { Change } from '../../data/ledger/transactions.ts';
import { noObjects, type ObjectReader } from '../../data/requests/day-file.ts';
import { openRequests } from '../../data/requests/requests.ts';
import { openDayReturn } from '../../data/requests/return-day.ts';
import { inBatches } from '../../data/table/batch.ts';
import type { Table } from '../../data/table/table.ts';
import { DAY_MS } from '../../domain/calendar/units.ts';
import { dayOf } from '../../domain/calendar/utc.ts';
import { limitPeriodAt } from '../../domain/limits/each.ts';
import { type CountedLimits, valueCountsOf } from '../../domain/limits/value-counts.ts';
import type { RequestRecord } from '../../domain/spend/request-record.ts';

export const BATCH = 200;
/** Requests of one instant stay together: a cursor is an instant. */
export const beganLater = (last: RequestRecord, next: RequestRecord): boolean => last.startedAt > next.startedAt;
const MAX_ROUNDS = 5;

/** Other writers changed the same records in every round. */
class ValuesNotCountedError extends Error {
  override readonly name = 'ValuesNotCountedError';
}

/**
 * Counts the requests of the current period that were recorded before recorders knew a limit of each: as changes of their records, like
 * any other, so that each is counted once whatever happens to it meanwhile.
 */
export const openValueCounting = (
  table: Table,
  { objects = noObjects, now = () => new Date() }: { readonly objects?: ObjectReader; readonly now?: () => Date },
) => {
  const nowMs = () => now().getTime();
  const values = openLimitValues(table, nowMs);
  const requests = openRequests(table, nowMs, objects);
  const ledger = openLedger(table, nowMs);
  const returnDay = openDayReturn(table, objects, nowMs);

  const countRecords = async (records: readonly RequestRecord[], limits: CountedLimits): Promise<void> => {
    let rest = records;
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const changes = rest.flatMap((before): Change[] => {
        const [count] = valueCountsOf(before, limits);
        if (!count || before.countedFor.some(({ budgetId }) => budgetId === count.budgetId)) return [];
        const after = { ...before, countedFor: [...before.countedFor, count], revision: before.revision + 1 };
        return [{ before, after }];
      });
      if (changes.length === 0) return;
      for (const { accountId, startedAt } of rest) await returnDay(accountId, dayOf(startedAt));
      const { refused, failed } = await ledger.commit(changes);
      const [failure] = failed;
      if (failure) throw failure.error;
      if (refused.length === 0) return;
      rest = await requests.findMany(
        refused.map(({ after }) => after),
        { consistent: true },
      );
    }
    throw new ValuesNotCountedError('Records kept changing while they were being counted.');
  };

  /** Goes back through the requests of the period in which the limit was made. */
  const work = async (accountId: string, job: UncountedJob, limits: CountedLimits, isLate: () => boolean) => {
    const finish = () => values.uncounted.keep(accountId, { ...job, finishedAt: now().toISOString() });
    const [limit] = limits.limits;
    const period = limit && limitPeriodAt(limit.period, new Date(job.createdAt));
    // The limit is gone, or its days had not begun.
    if (!period) return finish();
    let doneFrom: string | undefined;
    // The clock of a gateway may be ahead of this one.
    const to = job.doneFrom ?? new Date(nowMs() + DAY_MS).toISOString();
    const records = requests.all(accountId, { from: period.start, to });
    for await (const batch of inBatches(records, BATCH, beganLater)) {
      if (doneFrom !== undefined && isLate()) return;
      await countRecords(batch, limits);
      doneFrom = batch.at(-1)?.startedAt as string;
      await values.uncounted.keep(accountId, { ...job, doneFrom });
    }
    return finish();
  };

  /** @param isLate true where the rest must wait for the next run */
  return async (accountId: string, isLate: () => boolean): Promise<void> => {
    const open = (await values.uncounted.list(accountId)).filter(
      ({ startsAt, finishedAt }) => finishedAt === undefined && startsAt <= now().toISOString(),
    );
    if (open.length === 0) return;
    const all = await values.limitsOf(accountId);
    for (const job of open) {
      if (isLate()) return;
      const limits = all.limits.filter(({ budgetId }) => budgetId === job.budgetId);
      await work(accountId, job, { ...all, limits }, isLate);
    }
  };
};

import * as z from 'zod/mini';
import { pendingDeliveries } from '../../domain/alerts/alert.ts';
import { DAY_MS, SECOND_MS } from '../../domain/calendar/units.ts';
import { ConflictError, NotFoundError } from '../../domain/errors.ts';
import { type Report, reportSchema, storedCalendar } from '../../domain/reports/report.ts';
import type { ReportCalendar } from '../../domain/reports/report-period.ts';
import { type ReportRun, reportRunSchema } from '../../domain/reports/report-run.ts';
import { jobChange, jobItem, writeJob } from '../accounts/account-jobs.ts';
import { type AuditEntry, putAudit } from '../accounts/audit-log.ts';
import { outgoingKey, undeliveredKey } from '../alerts/alert-deliveries.ts';
import { check, EXISTS, IS_NEW, put, remove, update } from '../table/actions.ts';
import { accountKey, reportKey, reportRunKey } from '../table/keys.ts';
import { findItem, listReadable, readItem } from '../table/read.ts';
import type { Table } from '../table/table.ts';
import { transact, tryTransact } from '../table/write.ts';

/** Longer than any period can be sent again after a change of the schedule. */
const RUN_DAYS = 90;
const SHOWN_RUNS = 10;

const shownRun = z.omit(reportRunSchema, { content: true });
export type ShownRun = z.infer<typeof shownRun> & { readonly firstDay: string };

/** Members that a later version added stay. */
const parseReport = (stored: Record<string, unknown>): Report => {
  const { pk: _pk, sk: _sk, kind: _kind, gsi1pk: _due, gsi1sk: _at, ...members } = stored;
  return { ...members, ...reportSchema.parse(members) };
};

/** An active report is a job: see account-jobs.ts. */
const reportItem = (report: Report) =>
  jobItem('report', reportKey(report.accountId, report.reportId), report, report.isActive ? report.nextAt : null);

const changed = () => new ConflictError('The reports were changed or deleted in the meantime. Read them again.');

const expiryOf = (createdAt: string): number => Math.floor((Date.parse(createdAt) + RUN_DAYS * DAY_MS) / SECOND_MS);

/** A report of a period that is not delivered yet, due at once. */
const putRun = (run: ReportRun) =>
  put(
    {
      ...outgoingKey(run),
      ...run,
      firstDay: run.content.period.firstDay,
      ...undeliveredKey(run, run.createdAt),
      deliveryRound: 0,
      expiresAt: expiryOf(run.createdAt),
    },
    IS_NEW,
  );

type NextPeriod = Pick<Report, 'nextDay' | 'nextAt'>;

/** Moves a report on to its next period, unless it was changed since it was read. */
const moveOn = ({ accountId, reportId, revision }: Report, next: NextPeriod) =>
  jobChange(reportKey(accountId, reportId), accountId, { ...next, failures: 0 }, next.nextAt, { revision });

/** The reports of accounts, what they said of each period, and the calendar that they follow. */
export const openReports = (table: Table) => {
  const find = async (accountId: string, reportId: string): Promise<Report> => {
    const item = await findItem(table, reportKey(accountId, reportId));
    if (item === undefined) throw new NotFoundError('There is no such report.');
    return readItem(() => parseReport(item));
  };

  const replacing = (report: Report, previous: number) => put(reportItem(report), 'revision = :previous', { previous });

  return {
    /** @throws NotFoundError */
    find,

    /** Oldest first. */
    list: (accountId: string) => listReadable(table, reportKey(accountId, ''), parseReport),

    create: (report: Report, audit: AuditEntry): Promise<void> =>
      transact(table, [put(reportItem(report), IS_NEW), putAudit(audit)], changed),

    /** @throws ConflictError where the report has another revision by now, or is deleted */
    replace: (report: Report, previousRevision: number, audit: AuditEntry): Promise<void> =>
      transact(table, [replacing(report, previousRevision), putAudit(audit)], changed),

    /** @throws NotFoundError */
    remove: (accountId: string, reportId: string, audit: AuditEntry): Promise<void> =>
      transact(
        table,
        [remove(reportKey(accountId, reportId), EXISTS), putAudit(audit)],
        () => new NotFoundError('There is no such report.'),
      ),

    calendar: async (accountId: string): Promise<ReportCalendar> =>
      storedCalendar.parse(
        (await findItem(table, accountKey(accountId), { attributes: 'reportCalendar' }))?.['reportCalendar'],
      ),

    /** @param reports those whose next time changes with it, as their next revision */
    saveCalendar: (
      accountId: string,
      calendar: ReportCalendar,
      reports: readonly Report[],
      audit: AuditEntry,
    ): Promise<void> =>
      transact(
        table,
        [
          update(accountKey(accountId), 'SET reportCalendar = :calendar', EXISTS, { calendar }),
          ...reports.map((report) => replacing(report, report.revision - 1)),
          putAudit(audit),
        ],
        changed,
      ),

    /**
     * Stores what a report says of a period, to be delivered, and when the next one is due: once for a period, however often it is made.
     *
     * @param report as it was read
     * @returns false where the period has a run already, or the report was changed since it was read
     */
    start: (report: Report, run: ReportRun, next: NextPeriod): Promise<boolean> =>
      tryTransact(table, [putRun(run), moveOn(report, next)]),

    /** Shows people that the report of a period could not be made, and goes on with the next. @returns as `start` does */
    giveUp: async (report: Report, firstDay: string, now: Date, next: NextPeriod): Promise<boolean> => {
      const { accountId, reportId, name, channels, schedule } = report;
      const deliveries = pendingDeliveries(channels).map((delivery) => ({
        ...delivery,
        status: 'failed' as const,
        error: 'the report could not be made',
      }));
      const createdAt = now.toISOString();
      const run: ShownRun = { accountId, reportId, name, createdAt, firstDay, deliveries };
      const key = reportRunKey(accountId, reportId, `${firstDay}#${schedule.every}`);
      return tryTransact(table, [
        put({ ...key, ...run, expiresAt: expiryOf(createdAt) }, IS_NEW),
        moveOn(report, next),
      ]);
    },

    /** Stores what a report says that somebody asked for, to be delivered. @throws ConflictError where the report is deleted */
    startNow: (run: ReportRun): Promise<void> =>
      transact(table, [putRun(run), check(reportKey(run.accountId, run.reportId), EXISTS)], changed),

    hasRun: async (accountId: string, reportId: string, period: string): Promise<boolean> =>
      (await findItem(table, reportRunKey(accountId, reportId, period), { attributes: 'pk' })) !== undefined,

    /**
     * Puts a report off, or on to its next period.
     *
     * @param dueAt ISO 8601 UTC; null: it is not due any more
     * @returns false if it is gone, or was changed since it was read
     */
    postpone: (
      { accountId, reportId, revision }: Pick<Report, 'accountId' | 'reportId' | 'revision'>,
      changes: Partial<Pick<Report, 'nextDay' | 'nextAt' | 'failures'>>,
      dueAt: string | null,
    ): Promise<boolean> => writeJob(table, reportKey(accountId, reportId), accountId, changes, dueAt, { revision }),

    /** Recent messages, latest period first. */
    runs: async (accountId: string, reportId: string): Promise<ShownRun[]> => {
      const { pk, sk } = reportRunKey(accountId, reportId, '');
      const { Items = [] } = await table.call('Query', {
        TableName: table.name,
        KeyConditionExpression: 'pk = :pk AND begins_with(sk, :runs)',
        ExpressionAttributeNames: { '#name': 'name' },
        ExpressionAttributeValues: { ':pk': pk, ':runs': sk },
        ProjectionExpression: 'accountId, reportId, #name, createdAt, firstDay, deliveries',
        ScanIndexForward: false,
        Limit: SHOWN_RUNS,
        ConsistentRead: true,
      });
      return Items.map((item) => ({ ...shownRun.parse(item), firstDay: String(item['firstDay']) }));
    },
  };
};

export type Reports = ReturnType<typeof openReports>;

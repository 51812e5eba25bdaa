import { GetCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod/mini';
import { DAY_MS, SECOND_MS } from '../../domain/calendar/units.ts';
import { ConflictError, NotFoundError } from '../../domain/errors.ts';
import { type Report, reportSchema, storedCalendar } from '../../domain/reports/report.ts';
import type { ReportCalendar } from '../../domain/reports/report-period.ts';
import { type ReportRun, reportRunSchema } from '../../domain/reports/report-run.ts';
import { dueFrom, writeJob } from '../accounts/account-jobs.ts';
import { type AuditEntry, putAudit } from '../accounts/audit-log.ts';
import { outgoingKey, undeliveredKey } from '../alerts/alert-deliveries.ts';
import { accountKey, reportKey, reportRunKey } from '../table/keys.ts';
import { queryItems } from '../table/query-items.ts';
import type { Table } from '../table/table.ts';
import { ConditionsFailedError, type TransactionItems, transact } from '../table/transact.ts';

/** Longer than any period can be sent again after a change of the schedule. */
const RUN_DAYS = 90;
const SHOWN_RUNS = 10;

/** A run without its content. */
const shownRun = z.omit(reportRunSchema, { content: true });
export type ShownRun = z.infer<typeof shownRun> & { readonly firstDay: string };

/** An active report is a job: see account-jobs.ts. */
const reportItem = (report: Report) => {
  const key = reportKey(report.accountId, report.reportId);
  return {
    ...key,
    kind: 'report',
    ...report,
    ...(report.isActive && dueFrom(report.nextAt, { accountId: report.accountId, sk: key.sk })),
  };
};

const changed = () => new ConflictError('The reports were changed or deleted in the meantime. Read them again.');

/** The reports of accounts, what they said of each period, and the calendar that they follow. */
export const openReports = (table: Table) => {
  const { client, name } = table;

  const find = async (accountId: string, reportId: string): Promise<Report> => {
    const Key = { ...reportKey(accountId, reportId) };
    const { Item } = await client.send(new GetCommand({ TableName: name, Key, ConsistentRead: true }));
    if (Item === undefined) throw new NotFoundError('There is no such report.');
    return reportSchema.parse(Item);
  };

  const replacing = (report: Report, previousRevision: number): TransactionItems[number] => ({
    Put: {
      TableName: name,
      Item: reportItem(report),
      ConditionExpression: 'revision = :previous',
      ExpressionAttributeValues: { ':previous': previousRevision },
    },
  });

  /** @throws ConflictError */
  const write = async (items: TransactionItems): Promise<void> => {
    try {
      await transact(table, items);
    } catch (error) {
      throw error instanceof ConditionsFailedError ? changed() : error;
    }
  };

  return {
    /** @throws NotFoundError */
    find,

    /** Oldest first. */
    list: async (accountId: string): Promise<Report[]> => {
      const { pk, sk } = reportKey(accountId, '');
      const reports: Report[] = [];
      for await (const item of queryItems(table, {
        KeyConditionExpression: 'pk = :pk AND begins_with(sk, :reports)',
        ExpressionAttributeValues: { ':pk': pk, ':reports': sk },
        ConsistentRead: true,
      }))
        reports.push(reportSchema.parse(item));
      return reports;
    },

    create: (report: Report, audit: AuditEntry): Promise<void> =>
      write([
        { Put: { TableName: name, Item: reportItem(report), ConditionExpression: 'attribute_not_exists(pk)' } },
        putAudit(name, audit),
      ]),

    /** @throws ConflictError where the report has another revision by now, or is deleted */
    replace: (report: Report, previousRevision: number, audit: AuditEntry): Promise<void> =>
      write([replacing(report, previousRevision), putAudit(name, audit)]),

    /** @throws NotFoundError */
    remove: async (accountId: string, reportId: string, audit: AuditEntry): Promise<void> => {
      const Key = { ...reportKey(accountId, reportId) };
      try {
        await transact(table, [
          { Delete: { TableName: name, Key, ConditionExpression: 'attribute_exists(pk)' } },
          putAudit(name, audit),
        ]);
      } catch (error) {
        throw error instanceof ConditionsFailedError ? new NotFoundError('There is no such report.') : error;
      }
    },

    calendar: async (accountId: string): Promise<ReportCalendar> => {
      const { Item } = await client.send(
        new GetCommand({
          TableName: name,
          Key: { ...accountKey(accountId) },
          ProjectionExpression: 'reportCalendar',
          ConsistentRead: true,
        }),
      );
      return storedCalendar.parse(Item?.['reportCalendar']);
    },

    /** @param reports those whose next time changes with it, as their next revision */
    saveCalendar: (
      accountId: string,
      calendar: ReportCalendar,
      reports: readonly Report[],
      audit: AuditEntry,
    ): Promise<void> =>
      write([
        {
          Update: {
            TableName: name,
            Key: { ...accountKey(accountId) },
            UpdateExpression: 'SET reportCalendar = :calendar',
            ConditionExpression: 'attribute_exists(pk)',
            ExpressionAttributeValues: { ':calendar': calendar },
          },
        },
        ...reports.map((report) => replacing(report, report.revision - 1)),
        putAudit(name, audit),
      ]),

    /**
     * Stores what a report says of a period, to be delivered, and when the next one is due: once for a period, however often it is made.
     *
     * @param report as it was read
     * @returns false where the period has a run already, or the report was changed since it was read
     */
    start: async (report: Report, run: ReportRun, next: Pick<Report, 'nextDay' | 'nextAt'>): Promise<boolean> => {
      const key = reportKey(report.accountId, report.reportId);
      const expiresAt = Math.floor((Date.parse(run.createdAt) + RUN_DAYS * DAY_MS) / SECOND_MS);
      try {
        await transact(table, [
          {
            Put: {
              TableName: name,
              Item: {
                ...outgoingKey(run),
                ...run,
                firstDay: run.content.period.firstDay,
                ...undeliveredKey(run, run.createdAt),
                deliveryRound: 0,
                expiresAt,
              },
              ConditionExpression: 'attribute_not_exists(pk)',
            },
          },
          {
            Update: {
              TableName: name,
              Key: { ...key },
              UpdateExpression: 'SET nextDay = :day, nextAt = :at, gsi1sk = :gsi1sk, failures = :none',
              ConditionExpression: 'revision = :revision AND nextDay = :before',
              ExpressionAttributeValues: {
                ':day': next.nextDay,
                ':at': next.nextAt,
                ':gsi1sk': dueFrom(next.nextAt, { accountId: report.accountId, sk: key.sk }).gsi1sk,
                ':revision': report.revision,
                ':before': report.nextDay,
                ':none': 0,
              },
            },
          },
        ]);
        return true;
      } catch (error) {
        if (error instanceof ConditionsFailedError) return false;
        throw error;
      }
    },

    /** Whether a period has a run. */
    hasRun: async (accountId: string, reportId: string, period: string): Promise<boolean> => {
      const Key = { ...reportRunKey(accountId, reportId, period) };
      const { Item } = await client.send(
        new GetCommand({ TableName: name, Key, ProjectionExpression: 'pk', ConsistentRead: true }),
      );
      return Item !== undefined;
    },

    /** Puts a report off, or on to its next period. @param dueAt ISO 8601 UTC; null: it is not due any more @returns false if it is gone */
    postpone: (
      { accountId, reportId }: Pick<Report, 'accountId' | 'reportId'>,
      changes: Partial<Pick<Report, 'nextDay' | 'nextAt' | 'failures'>>,
      dueAt: string | null,
    ): Promise<boolean> => writeJob(table, reportKey(accountId, reportId), accountId, changes, dueAt),

    /** What was sent lately, latest period first. */
    runs: async (accountId: string, reportId: string): Promise<ShownRun[]> => {
      const { pk, sk } = reportRunKey(accountId, reportId, '');
      const { Items = [] } = await client.send(
        new QueryCommand({
          TableName: name,
          KeyConditionExpression: 'pk = :pk AND begins_with(sk, :runs)',
          ExpressionAttributeNames: { '#name': 'name' },
          ExpressionAttributeValues: { ':pk': pk, ':runs': sk },
          ProjectionExpression: 'accountId, reportId, #name, createdAt, firstDay, deliveries',
          ScanIndexForward: false,
          Limit: SHOWN_RUNS,
          ConsistentRead: true,
        }),
      );
      return Items.map((item) => ({ ...shownRun.parse(item), firstDay: String(item['firstDay']) }));
    },
  };
};

export type Reports = ReturnType<typeof openReports>;

import type { ReadContent } from '../data/reports/open-content.ts';
import type { Reports } from '../data/reports/reports.ts';
import { orUndefined } from '../domain/errors.ts';
import type { Report } from '../domain/reports/report.ts';
import { dueAt, periodAfter, periodOn, type ReportCalendar } from '../domain/reports/report-period.ts';
import { newRun } from '../domain/reports/report-run.ts';

interface MakeReportDependencies {
  readonly reports: Pick<Reports, 'find' | 'calendar' | 'start' | 'giveUp' | 'hasRun' | 'postpone'>;
  readonly readContent: ReadContent;
  readonly now: () => Date;
}

/** The period that is due, and what is due after it. */
const periodsOf = ({ schedule, nextDay }: Report, calendar: ReportCalendar) => {
  const period = periodOn(schedule.every, nextDay, calendar);
  const after = periodAfter(schedule.every, period, calendar);
  return { period, next: { nextDay: after.firstDay, nextAt: dueAt(schedule, after, calendar) } };
};

/**
 * Makes a report of the period that is due, to be delivered by the rule evaluator. Periods that were missed follow one after another,
 * each once: the next one is due when this one is stored.
 */
export const makeReport =
  ({ reports, readContent, now }: MakeReportDependencies) =>
  async (accountId: string, reportId: string): Promise<void> => {
    const report = await orUndefined(reports.find(accountId, reportId));
    if (report === undefined || report.nextAt > now().toISOString()) return;
    if (!report.isActive) {
      await reports.postpone(report, {}, null);
      return;
    }
    const calendar = await reports.calendar(accountId);
    const { period, next } = periodsOf(report, calendar);
    if (await reports.hasRun(accountId, reportId, `${period.firstDay}#${report.schedule.every}`)) {
      await reports.postpone(report, { ...next, failures: 0 }, next.nextAt);
      return;
    }
    const content = await readContent(report, period, calendar);
    await reports.start(report, newRun(report, content, now()), next);
  };

/** A period that could not be reported for about seven hours is given up, so that the next one is not late as well. */
const MAX_FAILURES = 12;

/** Puts a report off that could not be made. @returns the failures so far */
export const failReport =
  ({ reports, now }: Pick<MakeReportDependencies, 'reports' | 'now'>) =>
  async (accountId: string, reportId: string, dueAtFor: (failures: number) => Date): Promise<number> => {
    const report = await orUndefined(reports.find(accountId, reportId));
    if (report === undefined) return 1;
    const failures = report.failures + 1;
    if (failures < MAX_FAILURES) await reports.postpone(report, { failures }, dueAtFor(failures).toISOString());
    else {
      const { period, next } = periodsOf(report, await reports.calendar(accountId));
      await reports.giveUp(report, period.firstDay, now(), next);
    }
    return failures;
  };

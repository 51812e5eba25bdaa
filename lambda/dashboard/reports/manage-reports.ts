import { isDeepStrictEqual } from 'node:util';
import { auditOf, auditsOf, withRoom } from '../../data/accounts/audit-log.ts';
import { invalid } from '../../domain/errors.ts';
import type { Report } from '../../domain/reports/report.ts';
import { reportMail } from '../../domain/reports/report-mail.ts';
import {
  dueAt,
  lastPeriod,
  nextPeriod,
  periodOn,
  type ReportCalendar,
  type Schedule,
} from '../../domain/reports/report-period.ts';
import { newRun } from '../../domain/reports/report-run.ts';
import { requireAsRead } from '../../http/as-read.ts';
import type { Implementations } from '../../http/operation.ts';
import { mailMembers, resultOf } from '../../integrations/channels.ts';
import { channelsOf, requireDeclared, requireMembers } from '../limits/rule-changes.ts';
import { newSecretOf, shownMembersOf } from '../limits/rule-members.ts';
import type { Settings } from '../open-settings.ts';
import type * as operations from './operations.ts';

/** Limits the work of one account in an hour. */
export const MAX_REPORTS = 20;

const view = (report: Report) => ({
  ...shownMembersOf(report.reportId, report),
  schedule: report.schedule,
  groupBy: report.groupBy,
  recipients: report.recipients,
  nextAt: report.isActive ? report.nextAt : null,
});

/** The first period whose report is due after an instant. */
const nextOf = (schedule: Schedule, after: Date, calendar: ReportCalendar): Pick<Report, 'nextDay' | 'nextAt'> => {
  const period = nextPeriod(schedule, after, calendar);
  return { nextDay: period.firstDay, nextAt: dueAt(schedule, period, calendar) };
};

/** The same after a change. A period that ended and has no report yet gets it, also where it is due earlier from now on. */
const nextAfterChange = (previous: Report, schedule: Schedule, now: Date, calendar: ReportCalendar) => {
  const end = new Date(periodOn(previous.schedule.every, previous.nextDay, calendar).to);
  return nextOf(schedule, previous.isActive && end < now ? end : now, calendar);
};

/** @throws ValidationError where it groups by a dimension that the account does not have, or is for somebody who is no member */
const requireKnown = async (
  settings: Settings,
  accountId: string,
  { groupBy = [], recipients }: { readonly [N in 'groupBy' | 'recipients']?: Report[N] | undefined },
): Promise<void> => {
  await requireDeclared(settings, accountId, groupBy, 'groupBy');
  await requireMembers(settings, accountId, recipients ?? [], 'recipients');
};

const auditOfReport = auditsOf(
  ({ reportId }: Report) => reportId,
  ({ name, schedule: { every, hour }, groupBy, channels, recipients, isActive }) => ({
    name,
    schedule: `${every} at ${hour}`,
    groupBy: groupBy.join(', '),
    channels: channels.join(', '),
    recipients: recipients?.join(', ') ?? 'all members',
    isActive: String(isActive),
  }),
);

export const manageReports = (settings: Settings): Implementations<typeof operations> => ({
  listReports: async ({ caller: { accountId } }) => {
    const [{ items, unreadable }, calendar] = await Promise.all([
      settings.reports.list(accountId),
      settings.reports.calendar(accountId),
    ]);
    return {
      items: items.toSorted((a, b) => (a.createdAt < b.createdAt ? -1 : 1)).map(view),
      unreadable: unreadable.length || undefined,
      calendar,
      limit: MAX_REPORTS,
    };
  },

  getReport: async ({ caller: { accountId }, params: { id } }) => {
    const [report, runs] = await Promise.all([
      settings.reports.find(accountId, id),
      settings.reports.runs(accountId, id),
    ]);
    return { ...view(report), runs };
  },

  createReport: async ({ caller, clientAddress, body: { webhookUrl, targets, channels, ...facts } }) => {
    const { reports, now, newId } = settings;
    const { accountId } = caller;
    await requireKnown(settings, accountId, facts);
    const at = now();
    const report: Report = {
      reportId: newId(),
      accountId,
      ...facts,
      ...(await channelsOf(settings, { webhookUrl, targets, channels })),
      createdAt: at.toISOString(),
      updatedAt: at.toISOString(),
      ...nextOf(facts.schedule, at, await reports.calendar(accountId)),
      failures: 0,
      revision: 1,
    };
    const audit = auditOfReport({ caller, clientAddress }, 'report.created', report, at);
    await reports.create(
      report,
      withRoom(audit, async () => (await reports.list(accountId)).items, MAX_REPORTS, 'reports'),
    );
    return { ...view(report), ...newSecretOf(report, null) };
  },

  updateReport: async ({
    caller,
    clientAddress,
    params: { id },
    body: { webhookUrl, targets, channels, was, ...patch },
  }) => {
    const { reports, now } = settings;
    const { accountId } = caller;
    await requireKnown(settings, accountId, patch);
    const previous = await reports.find(accountId, id);
    requireAsRead(view(previous), was, { channels, ...patch });
    const { targets: _, ...others } = { ...previous, ...(patch as Partial<Report>) };
    const patched: Report = {
      ...others,
      ...(await channelsOf(settings, { webhookUrl, targets, channels }, previous)),
    };
    if (isDeepStrictEqual(patched, previous)) return view(previous);
    const at = now();
    const isRescheduled =
      !isDeepStrictEqual(patched.schedule, previous.schedule) || (patched.isActive && !previous.isActive);
    const report: Report = {
      ...patched,
      updatedAt: at.toISOString(),
      ...(isRescheduled && nextAfterChange(previous, patched.schedule, at, await reports.calendar(accountId))),
      revision: previous.revision + 1,
    };
    const audit = auditOfReport({ caller, clientAddress }, 'report.changed', report, at, previous);
    await reports.replace(report, previous.revision, audit);
    return { ...view(report), ...newSecretOf(report, previous.webhook) };
  },

  deleteReport: async ({ caller, clientAddress, params: { id } }) => {
    const report = await settings.reports.find(caller.accountId, id);
    const audit = auditOfReport({ caller, clientAddress }, 'report.deleted', report, settings.now());
    await settings.reports.remove(caller.accountId, id, audit);
  },

  changeReportCalendar: async ({ caller, clientAddress, body: calendar }) => {
    const at = settings.now();
    const rescheduled = (await settings.reports.list(caller.accountId)).items
      .filter(({ isActive }) => isActive)
      .map((report) => ({
        ...report,
        ...nextAfterChange(report, report.schedule, at, calendar),
        revision: report.revision + 1,
      }));
    const detailsOf = ({ timeZone, weekStartsOn }: ReportCalendar) => ({ timeZone, weekStartsOn });
    const before = detailsOf(await settings.reports.calendar(caller.accountId));
    const fact = { action: 'settings.changed', details: detailsOf(calendar), before } as const;
    const audit = auditOf({ caller, clientAddress }, fact, at);
    await settings.reports.saveCalendar(caller.accountId, calendar, rescheduled, audit);
    return calendar;
  },

  /** Sends a report of the period that ended last: to the caller at once, to all as the scheduled one is, since that may take minutes. */
  sendReport: async ({ caller: { accountId, userId }, params: { id }, body: { to } }) => {
    const { reports, users, readContent, sendMail, dashboardUrl, now } = settings;
    const report = await reports.find(accountId, id);
    const me = to === 'me' ? (await users.recipients(accountId)).filter((member) => member.userId === userId) : [];
    if (to === 'me' && me.length === 0) throw invalid('to', 'must be all for an API token, which has no mail address');
    const calendar = await reports.calendar(accountId);
    const at = now();
    const content = await readContent(report, lastPeriod(report.schedule.every, at, calendar), calendar);
    const run = newRun(report, content, at);
    if (to === 'all') {
      await reports.startNow({ ...run, isAskedFor: true });
      return {
        items: run.deliveries.map(({ channel, error }) => ({ channel, isDelivered: false, isPending: true, error })),
      };
    }
    const mail = reportMail(run, dashboardUrl);
    const mailing = mailMembers(sendMail, { accountId, recipients: me, now: at }, mail).then(({ error }) => error);
    return { items: [await resultOf('email' as const, mailing)] };
  },
});

import * as z from 'zod/mini';
import { deliverySchema } from '../../domain/alerts/alert.ts';
import { calendarSchema, groupBySchema, scheduleSchema } from '../../domain/reports/report.ts';
import { component, created, inGroup, ok } from '../../http/operation.ts';
import { described, unreadable } from '../../http/parameters.ts';
import { changedMembers, channelResults, newMembers, shownMembers, shownSecret } from '../limits/rule-members.ts';

const recipients = described(
  z.nullable(z.array(z.string().check(z.minLength(1), z.maxLength(64))).check(z.minLength(1), z.maxLength(50))),
  'Ids of the members who get the mail, see GET /members. Null: all members. Who leaves gets no more.',
);

const own = {
  schedule: scheduleSchema,
  groupBy: groupBySchema,
  recipients: z._default(recipients, null),
};

const report = {
  ...shownMembers,
  schedule: scheduleSchema,
  groupBy: groupBySchema,
  recipients,
  nextAt: described(z.nullable(z.iso.datetime()), 'When it is sent next. Null while it is switched off.'),
};

const reportSchema = component('Report', report);
const reportWithSecretSchema = component('ReportWithSecret', { ...report, ...shownSecret });

const operation = inGroup('Reports');

export const listReports = operation('listReports', 'GET /reports', {
  summary: 'List scheduled reports',
  permission: 'reports:read',
  success: ok('Oldest first, and the calendar that all of them follow.', {
    items: z.array(reportSchema),
    unreadable,
    calendar: calendarSchema,
    limit: described(z.int().check(z.positive()), 'How many reports an account may have.'),
  }),
});

export const changeReportCalendar = operation('changeReportCalendar', 'PUT /reports/calendar', {
  audits: ['settings.changed'],
  summary: 'Set the time zone and the start of the week of reports',
  description:
    'It holds for all reports of the account, from the next ones on. A period that was reported already is not reported again.',
  permission: 'reports:write',
  body: calendarSchema,
  success: ok('The calendar.', calendarSchema),
  errors: ['CONFLICT'],
});

export const getReport = operation('getReport', 'GET /reports/{id}', {
  summary: 'Get a scheduled report, and what was sent of it lately',
  permission: 'reports:read',
  success: ok('The report.', {
    ...report,
    runs: described(
      z.array(z.object({ firstDay: z.string(), createdAt: z.iso.datetime(), deliveries: z.array(deliverySchema) })),
      'The last ten periods, latest first: the first day of each, and the result of each channel.',
    ),
  }),
});

export const createReport = operation('createReport', 'POST /reports', {
  audits: ['report.created'],
  summary: 'Create a scheduled report',
  description:
    'After each day, week or month it is sent once, with the spend of the period as GET /spend has it, what changed against the period before, budgets as they stand, and what is not known. A channel that fails is tried again without sending twice to the others.',
  permission: 'reports:write',
  body: z.strictObject({ ...newMembers, ...own }),
  success: created('The report.', reportWithSecretSchema),
  errors: ['LIMIT_REACHED', 'CONFLICT'],
});

export const updateReport = operation('updateReport', 'PATCH /reports/{id}', {
  audits: ['report.changed'],
  summary: 'Change a scheduled report',
  description: 'Send only the members to change.',
  permission: 'reports:write',
  body: z.strictObject({
    ...changedMembers,
    schedule: z.optional(scheduleSchema),
    groupBy: z.optional(groupBySchema),
    recipients: z.optional(recipients),
  }),
  success: ok('The report.', reportWithSecretSchema),
  errors: ['CONFLICT'],
});

export const sendReport = operation('sendReport', 'POST /reports/{id}/send', {
  audits: 'Sends what was made, and changes nothing.',
  summary: 'Send a report now',
  description:
    'Sends the period that ended last, once, without waiting for its time. The scheduled one is sent all the same.',
  permission: 'reports:write',
  errors: ['CONFLICT'],
  rateLimits: { perAccount: { requests: 10, minutes: 10 } },
  body: z.strictObject({
    to: described(
      z._default(z.enum(['me', 'all']), 'me'),
      '`me`: a mail to the caller, who must be a member. `all`: every channel, within minutes.',
    ),
  }),
  success: channelResults('Why it was not delivered, or to whom not.'),
});

export const deleteReport = operation('deleteReport', 'DELETE /reports/{id}', {
  audits: ['report.deleted'],
  summary: 'Delete a scheduled report',
  permission: 'reports:write',
  success: { status: 204, description: 'Deleted.' },
});

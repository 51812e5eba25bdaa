import * as z from 'zod/mini';
import { type Principal, scopeOf } from '../accounts/scope.ts';
import { isTimeZone } from '../calendar/time-zones.ts';
import { notifyingMembers } from '../limits/rule.ts';
import { grouping } from '../spend/grouping.ts';
import { type ReportCalendar, reportFrequencies, UTC_CALENDAR, weekStarts } from './report-period.ts';

export const MAX_GROUPINGS = 4;

export const scheduleSchema = z.strictObject({
  every: z.enum(reportFrequencies),
  hour: z
    .int()
    .check(
      z.minimum(1),
      z.maximum(23),
      z.describe("Hour of the day after the period at which it is sent, in the account's time zone."),
    ),
});

export const groupBySchema = z.array(grouping).check(
  z.minLength(1),
  z.maxLength(MAX_GROUPINGS),
  z.refine((names) => new Set(names).size === names.length, 'must not have a name twice'),
  z.describe('Spend by each of these, one after another: names as in `groupBy` of GET /spend.'),
);

export const calendarSchema = z.strictObject({
  timeZone: z
    .string()
    .check(
      z.maxLength(64),
      z.refine(isTimeZone, 'must be the name of a time zone, such as Europe/Berlin'),
      z.describe(
        'IANA name. Where its offset from UTC has half an hour, days begin at the whole hour before midnight.',
      ),
    ),
  weekStartsOn: z.enum(weekStarts),
});

/** The member `reportCalendar` of an account. */
export const storedCalendar: z.ZodMiniType<ReportCalendar> = z._default(calendarSchema, UTC_CALENDAR);

/** A report of an account: what it shows, when it is sent, and to whom. */
export const reportSchema = z.object({
  reportId: z.string(),
  accountId: z.string(),
  name: z.string(),
  schedule: scheduleSchema,
  groupBy: z.array(grouping),
  ...notifyingMembers,
  /** User ids; null: all members. */
  recipients: z.nullable(z.array(z.string())),
  isActive: z.boolean(),
  /** ISO 8601 UTC. */
  createdAt: z.string(),
  updatedAt: z.string(),
  /** First day of the period that is sent next. */
  nextDay: z.string(),
  /** When it is sent, ISO 8601 UTC. */
  nextAt: z.string(),
  /** How often it could not be made since it was made last. */
  failures: z.int(),
  /** Increases with each change, from 1. */
  revision: z.int().check(z.positive()),
});
export type Report = z.infer<typeof reportSchema>;

/** True if a member gets a report by mail: only who sees the spend of the whole account. */
export const isReportFor = ({ recipients }: Pick<Report, 'recipients'>, member: Principal): boolean =>
  scopeOf(member).permits('spend:read-all') && (recipients?.includes(member.userId) ?? true);

import { groupBySchema } from '../../../lambda/domain/reports/report.ts';
import type { NewReport, Report } from '../api/responses.ts';
import { formatHour } from '../format/time.ts';
import type { BodyOf } from '../forms/changes.ts';
import { problemsIn, required } from '../forms/fields.ts';
import { type ChannelValues, channelProblems, channelsOf, channelValuesOf, mailOnly } from '../limits/channels.ts';

export interface ReportValues extends ChannelValues {
  readonly name: string;
  readonly every: Report['schedule']['every'];
  /** `8`: an hour of the day. */
  readonly hour: string;
  readonly groupBy: readonly string[];
  /** User ids; none: all members. */
  readonly recipients: readonly string[];
}

export const emptyReport: ReportValues = {
  ...mailOnly,
  name: '',
  every: 'weekly',
  hour: '8',
  groupBy: ['project', 'model'],
  recipients: [],
};

/** A stored report as the form holds it. */
export const valuesOf = (report: Report): ReportValues => ({
  ...channelValuesOf(report),
  name: report.name,
  every: report.schedule.every,
  hour: String(report.schedule.hour),
  groupBy: report.groupBy,
  recipients: report.recipients ?? [],
});

/** Members of a report that the API replaces. */
export const WHOLE = ['schedule'];

export const bodyOf = (values: ReportValues) => {
  const { name, every, hour, groupBy, recipients } = values;
  return {
    name: name.trim(),
    schedule: { every, hour: Number(hour) },
    groupBy: [...groupBy] as NewReport['groupBy'],
    recipients: recipients.length === 0 ? null : [...recipients],
    ...channelsOf(values),
  } satisfies BodyOf<NewReport>;
};

export const hours = Array.from({ length: 23 }, (_, index) => ({
  value: String(index + 1),
  label: formatHour(index + 1),
}));

/** Problems of the values, by member of the form. */
export const reportProblems = (values: ReportValues): Record<string, string | null> => ({
  ...channelProblems(values),
  name: required('A name')(values.name),
  ...problemsIn(groupBySchema, values.groupBy, ['groupBy']),
});

export const frequencyNames = { daily: 'Day', weekly: 'Week', monthly: 'Month' } as const;

/** `Every week at 8:00 AM: by project, model` */
export const reportText = (
  { schedule: { every, hour }, groupBy }: Pick<Report, 'schedule' | 'groupBy'>,
  timeZone = '',
): string =>
  `Every ${frequencyNames[every].toLowerCase()} at ${formatHour(hour)}${timeZone && ` (${timeZone})`}: by ${groupBy
    .map((by) => by.replace(/^dim:/, ''))
    .join(', ')}`;

import { Group, Select } from '@mantine/core';
import { FileChartColumn } from 'lucide-react';
import { useState } from 'react';
import { weekStarts } from '../../../lambda/domain/reports/report-period.ts';
import type { ReportList } from '../api/responses.ts';
import { useApi, useMe } from '../app.ts';
import { ActButton } from '../components/buttons.tsx';
import { Section } from '../components/page.tsx';
import { formatShortInstant } from '../format/time.ts';
import { capital } from '../forms/collections.ts';
import { ItemList, ItemRow } from '../forms/item-list.tsx';
import { zoneNames } from '../shell/reading.tsx';
import { reportText } from './report-form.ts';

const CalendarForm = ({ calendar }: { readonly calendar: ReportList['calendar'] }) => {
  const { may } = useMe();
  const [{ timeZone, weekStartsOn }, setCalendar] = useState(calendar);
  const save = useApi().useMutation('put', '/reports/calendar', {
    meta: { done: 'Calendar saved.', failure: 'The calendar was not saved' },
  });
  const isReadOnly = !may('reports:write');
  return (
    <Group align="flex-end">
      <Select
        label="Time zone"
        searchable
        readOnly={isReadOnly}
        data={[...new Set([timeZone, ...zoneNames()])]}
        limit={50}
        value={timeZone}
        onChange={(value) => setCalendar({ timeZone: value ?? timeZone, weekStartsOn })}
      />
      <Select
        label="Weeks begin on"
        readOnly={isReadOnly}
        data={weekStarts.map((value) => ({ value, label: capital(value) }))}
        value={weekStartsOn}
        onChange={(value) => setCalendar({ timeZone, weekStartsOn: (value ?? weekStartsOn) as typeof weekStartsOn })}
      />
      {!isReadOnly && (
        <ActButton
          size="sm"
          variant="default"
          label="Save"
          disabled={timeZone === calendar.timeZone && weekStartsOn === calendar.weekStartsOn}
          act={save}
          sent={{ body: { timeZone, weekStartsOn } }}
        />
      )}
    </Group>
  );
};

export const Reports = () => {
  const query = useApi().useQuery('get', '/reports');
  const { data } = query;
  return (
    <ItemList
      collection="/reports"
      query={query}
      about="What was spent in a day, week or month, and what changed, sent to you when it is over."
      empty={{
        icon: FileChartColumn,
        text: 'Most teams start with one a week, by project and model.',
        action: 'Send a weekly report',
      }}
      row={(report) => (
        <ItemRow
          key={report.id}
          collection="/reports"
          item={report}
          link={{ to: '/reports/$reportId', params: { reportId: report.id } }}
          about={reportText(report, data?.calendar.timeZone)}
        >
          <span className="dim small wide-only">
            {report.nextAt === null ? 'Off' : `Next: ${formatShortInstant(report.nextAt)}`}
          </span>
        </ItemRow>
      )}
    >
      {data && (
        <Section
          title="Calendar"
          about="When days and weeks begin in all reports, and the clock that their hours are of."
        >
          <CalendarForm key={JSON.stringify(data.calendar)} calendar={data.calendar} />
        </Section>
      )}
    </ItemList>
  );
};

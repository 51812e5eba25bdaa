import { Button, Group, Select, Skeleton, Switch } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { ChevronRight, FileChartColumn, Plus } from 'lucide-react';
import { useState } from 'react';
import { weekStarts } from '../../../lambda/domain/reports/report-period.ts';
import type { Report, ReportList } from '../api/responses.ts';
import { useApi } from '../app.ts';
import { EmptyState } from '../components/empty-state.tsx';
import { Heading } from '../components/heading.tsx';
import { ButtonLink } from '../components/links.tsx';
import { LoadProblem } from '../components/load-problem.tsx';
import { notifyDone, notifyProblem } from '../components/notify.ts';
import { Section } from '../components/section.tsx';
import { formatShortInstant } from '../format/time.ts';
import { useReload } from '../forms/use-save.ts';
import ruleClasses from '../rules/rules.module.css';
import { useMe } from '../session/permissions.ts';
import { reportText } from './report-form.ts';

const ReportRow = ({ report, timeZone }: { readonly report: Report; readonly timeZone: string }) => {
  const { may } = useMe();
  const reload = useReload('/reports');
  const update = useApi().useMutation('patch', '/reports/{id}', {
    onSuccess: reload,
    onError: notifyProblem('The report was not changed'),
  });
  const { id, name, isActive, nextAt } = report;
  return (
    <li className={ruleClasses['rule']} data-off={!isActive || undefined}>
      <Switch
        withThumbIndicator={false}
        disabled={!may('rules:write')}
        checked={update.isPending ? (update.variables.body.isActive ?? isActive) : isActive}
        aria-label={`${name} is on`}
        onChange={({ currentTarget }) =>
          update.mutate({ params: { path: { id } }, body: { isActive: currentTarget.checked } })
        }
      />
      <Link to="/reports/$reportId" params={{ reportId: id }} className={ruleClasses['rule-text']}>
        <strong>{name}</strong>
        <span className="dim small">{reportText(report, timeZone)}</span>
      </Link>
      <span className="dim small wide-only">{nextAt === null ? 'Off' : `Next: ${formatShortInstant(nextAt)}`}</span>
      <ChevronRight size={16} className="dim" aria-hidden />
    </li>
  );
};

const zones = () => ['UTC', ...Intl.supportedValuesOf('timeZone').filter((name) => name !== 'UTC')];
const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

const CalendarForm = ({ calendar }: { readonly calendar: ReportList['calendar'] }) => {
  const { may } = useMe();
  const reload = useReload('/reports');
  const [{ timeZone, weekStartsOn }, setCalendar] = useState(calendar);
  const save = useApi().useMutation('put', '/reports/calendar', {
    onSuccess: () => {
      notifyDone('Calendar saved.');
      return reload();
    },
    onError: notifyProblem('The calendar was not saved'),
  });
  const isReadOnly = !may('rules:write');
  return (
    <Group align="flex-end">
      <Select
        label="Time zone"
        searchable
        allowDeselect={false}
        readOnly={isReadOnly}
        data={[...new Set([timeZone, ...zones()])]}
        limit={50}
        value={timeZone}
        onChange={(value) => setCalendar({ timeZone: value ?? timeZone, weekStartsOn })}
      />
      <Select
        label="Weeks begin on"
        allowDeselect={false}
        readOnly={isReadOnly}
        data={weekStarts.map((value) => ({ value, label: capital(value) }))}
        value={weekStartsOn}
        onChange={(value) => setCalendar({ timeZone, weekStartsOn: (value ?? weekStartsOn) as typeof weekStartsOn })}
      />
      {!isReadOnly && (
        <Button
          variant="default"
          loading={save.isPending}
          disabled={timeZone === calendar.timeZone && weekStartsOn === calendar.weekStartsOn}
          onClick={() => save.mutate({ body: { timeZone, weekStartsOn } })}
        >
          Save
        </Button>
      )}
    </Group>
  );
};

export const Reports = () => {
  const { may } = useMe();
  const query = useApi().useQuery('get', '/reports');
  const { data, error } = query;
  return (
    <div className="page">
      <div className="page-head">
        <div>
          <Heading>Reports</Heading>
          <p>What was spent in a day, week or month, and what changed, sent to you when it is over.</p>
        </div>
        {may('rules:write') && (
          <ButtonLink to="/reports/new" leftSection={<Plus size={16} />}>
            New report
          </ButtonLink>
        )}
      </div>
      <LoadProblem query={query} title="The reports could not be loaded" />
      {!data && !error && <Skeleton height={220} radius="lg" />}
      {data?.items.length === 0 && (
        <section className="card">
          <EmptyState
            icon={FileChartColumn}
            title="No reports yet"
            action={
              may('rules:write') && (
                <ButtonLink variant="light" size="xs" to="/reports/new">
                  Send a weekly report
                </ButtonLink>
              )
            }
          >
            Most teams start with one a week, by project and model.
          </EmptyState>
        </section>
      )}
      {data && data.items.length > 0 && (
        <ul className={`card ${ruleClasses['rules']}`}>
          {data.items.map((report) => (
            <ReportRow key={report.id} report={report} timeZone={data.calendar.timeZone} />
          ))}
        </ul>
      )}
      {data && (
        <Section
          title="Calendar"
          about="When days and weeks begin in all reports, and the clock that their hours are of."
        >
          <CalendarForm key={JSON.stringify(data.calendar)} calendar={data.calendar} />
        </Section>
      )}
    </div>
  );
};

import { Badge, Group, MultiSelect, Select, Stack, TextInput } from '@mantine/core';
import { type UseFormReturnType, useForm } from '@mantine/form';
import { getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Report, ReportWithRuns } from '../api/responses.ts';
import { useApi, useMe } from '../app.ts';
import { notifyProblem } from '../components/notify.ts';
import { formatInstant } from '../format/time.ts';
import { EditorForm, EditorPage, LoadedItem } from '../forms/editor.tsx';
import { ChannelFields } from '../limits/channel-fields.tsx';
import { channelNames } from '../limits/channels.ts';
import { notifySent, SendButton } from '../limits/test-channels.tsx';
import {
  bodyOf,
  emptyReport,
  frequencyNames,
  groupings,
  hours,
  MAX_GROUPINGS,
  type ReportValues,
  reportProblems,
  reportText,
  valuesOf,
  WHOLE,
} from './report-form.ts';

const ReportFields = ({ form }: { readonly form: UseFormReturnType<ReportValues> }) => {
  const api = useApi();
  const { data: dimensions } = api.useQuery('get', '/dimensions');
  const { data: members } = api.useQuery('get', '/members');
  const { groupBy, channels } = form.values;
  const declared = (dimensions?.items ?? []).filter(({ isDeclared }) => isDeclared).map(({ name }) => `dim:${name}`);
  const choices = [
    ...Object.entries(groupings).map(([value, label]) => ({ value, label })),
    ...[...new Set([...declared, ...groupBy.filter((by) => by.startsWith('dim:'))])].map((value) => ({
      value,
      label: value.slice('dim:'.length),
    })),
  ];
  return (
    <Stack gap="lg">
      <TextInput label="Name" placeholder="Weekly spend" maxLength={100} {...form.getInputProps('name')} />
      <Group grow align="flex-start">
        <Select
          label="Every"
          allowDeselect={false}
          data={Object.entries(frequencyNames).map(([value, label]) => ({ value, label }))}
          {...form.getInputProps('every')}
        />
        <Select
          label="Sent at"
          description="The day after, in the reports’ time zone"
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          allowDeselect={false}
          data={hours}
          {...form.getInputProps('hour')}
        />
      </Group>
      <MultiSelect
        label="Spend by"
        description="One table each"
        maxValues={MAX_GROUPINGS}
        data={choices}
        {...form.getInputProps('groupBy')}
      />
      <ChannelFields form={form} label="Send to" />
      {channels.includes('email') && (
        <MultiSelect
          label="Who gets the mail"
          placeholder={form.values.recipients.length === 0 ? 'All members' : ''}
          data={(members?.items ?? []).map(({ userId, email }) => ({ value: userId, label: email }))}
          {...form.getInputProps('recipients')}
        />
      )}
    </Stack>
  );
};

const ReportForm = ({ report }: { readonly report?: Report }) => {
  const form = useForm<ReportValues>({
    initialValues: report ? valuesOf(report) : emptyReport,
    validate: reportProblems,
  });
  return (
    <EditorForm collection="/reports" item={report} form={form} bodyOf={bodyOf} whole={WHOLE}>
      <ReportFields form={form} />
    </EditorForm>
  );
};

const statusColors = { sent: 'teal', pending: 'yellow', failed: 'red' } as const;

/** Recent messages, and how each channel took them. */
const Runs = ({ runs }: Pick<ReportWithRuns, 'runs'>) => (
  <Stack gap="sm">
    {runs.length === 0 && <p className="dim small">Nothing yet.</p>}
    {runs.map(({ firstDay, createdAt, deliveries }) => (
      <div key={`${firstDay}${createdAt}`}>
        <strong>{firstDay}</strong> <span className="dim small">made {formatInstant(createdAt)}</span>
        {deliveries.map(({ channel, status, error }) => (
          <div key={channel} className="small">
            <Badge size="sm" variant="light" color={statusColors[status]} tt="none">
              {status}
            </Badge>{' '}
            {channelNames[channel]}
            {error && <span className="dim">: {error}</span>}
          </div>
        ))}
      </div>
    ))}
  </Stack>
);

const SendNow = ({ report: { id } }: { readonly report: Report }) => {
  const send = useApi().useMutation('post', '/reports/{id}/send', {
    onSuccess: notifySent,
    onError: notifyProblem('The report was not sent'),
  });
  const sendTo = (to: 'me' | 'all') => send.mutate({ params: { path: { id } }, body: { to } });
  return (
    <Group>
      <SendButton label="Send me one now" isPending={send.isPending} onClick={() => sendTo('me')} />
      <SendButton label="Send to all" isPending={send.isPending} onClick={() => sendTo('all')} />
    </Group>
  );
};

interface SideProps {
  readonly title: string;
  readonly about?: string;
  readonly children: ReactNode;
}

const Side = ({ title, about, children }: SideProps) => (
  <section className="card card-pad" aria-label={title}>
    <Stack gap="sm">
      <h2 className="section-title">{title}</h2>
      {about && <p className="dim small">{about}</p>}
      {children}
    </Stack>
  </section>
);

export const NewReport = () => (
  <EditorPage collection="/reports" title="New report" about="It is sent from the end of the current period on.">
    <ReportForm />
  </EditorPage>
);

export const EditReport = () => {
  const { reportId } = getRouteApi('/members/reports/$reportId').useParams();
  const { may } = useMe();
  const query = useApi().useQuery('get', '/reports/{id}', { params: { path: { id: reportId } } });
  return (
    <LoadedItem collection="/reports" query={query} item={query.data}>
      {(report) => (
        <EditorPage
          collection="/reports"
          title={report.name}
          about={reportText(report)}
          query={query}
          side={
            <Stack>
              {may('rules:write') && (
                <Side title="Send now" about="The report of the last period that is over, as it is saved.">
                  <SendNow report={report} />
                </Side>
              )}
              <Side title="Sent lately">
                <Runs runs={report.runs} />
              </Side>
            </Stack>
          }
        >
          <ReportForm key={report.id} report={report} />
        </EditorPage>
      )}
    </LoadedItem>
  );
};

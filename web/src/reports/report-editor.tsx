import { Badge, Group, MultiSelect, Select, Stack, TextInput } from '@mantine/core';
import { type UseFormReturnType, useForm } from '@mantine/form';
import { getRouteApi } from '@tanstack/react-router';
import { MAX_GROUPINGS } from '../../../lambda/domain/reports/report.ts';
import { commonDimensions } from '../../../lambda/domain/spend/dimensions.ts';
import type { Report, ReportWithRuns } from '../api/responses.ts';
import { useApi, useMe } from '../app.ts';
import { ActButton } from '../components/buttons.tsx';
import { Card } from '../components/page.tsx';
import { formatInstant } from '../format/time.ts';
import { EditorForm, EditorPage, LoadedItem } from '../forms/editor.tsx';
import { choicesOf } from '../forms/fields.ts';
import { ChannelFields, notifySent, sendLook } from '../limits/channel-fields.tsx';
import { channelNames } from '../limits/channels.ts';
import { useDeclaredChoices, useMemberChoices } from '../scope/scope-fields.tsx';
import { type Dimension, dimensionName } from '../spend/filters.ts';
import {
  bodyOf,
  emptyReport,
  frequencyNames,
  hours,
  type ReportValues,
  reportProblems,
  reportText,
  valuesOf,
  WHOLE,
} from './report-form.ts';

const ReportFields = ({ form }: { readonly form: UseFormReturnType<ReportValues> }) => {
  const choices = useDeclaredChoices();
  const members = useMemberChoices();
  const { groupBy, channels } = form.values;
  const declared = choices.filter(({ disabled }) => !disabled).map(({ value }) => `dim:${value}` as const);
  const groups = new Set([...commonDimensions, ...declared, ...(groupBy as readonly Dimension[])]);
  return (
    <Stack gap="lg">
      <TextInput label="Name" placeholder="Weekly spend" maxLength={100} {...form.getInputProps('name')} />
      <Group grow align="flex-start">
        <Select label="Every" data={choicesOf(frequencyNames)} {...form.getInputProps('every')} />
        <Select
          label="Sent at"
          description="The day after, in the reports’ time zone"
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          data={hours}
          {...form.getInputProps('hour')}
        />
      </Group>
      <MultiSelect
        label="Spend by"
        description="One table each"
        maxValues={MAX_GROUPINGS}
        data={[
          ...[...groups].map((value) => ({ value, label: dimensionName(value) })),
          ...choices.filter(({ disabled }) => disabled),
        ]}
        {...form.getInputProps('groupBy')}
      />
      <ChannelFields form={form} label="Send to" />
      {channels.includes('email') && (
        <MultiSelect
          label="Who gets the mail"
          placeholder={form.values.recipients.length === 0 ? 'All members' : ''}
          data={members}
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

const Runs = ({ runs }: Pick<ReportWithRuns, 'runs'>) => (
  <Stack gap="sm">
    {runs.length === 0 && <p className="dim small">Nothing yet.</p>}
    {runs.map(({ firstDay, createdAt, deliveries }) => (
      <div key={`${firstDay}${createdAt}`}>
        <strong>{firstDay}</strong> <span className="dim small">{formatInstant(createdAt)}</span>
        {deliveries.map(({ channel, status, error }) => (
          <div key={channel} className="small">
            <Badge size="sm" color={statusColors[status]}>
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
    meta: { failure: 'The report was not sent' },
  });
  const sentTo = (to: 'me' | 'all') => ({ params: { path: { id } }, body: { to } });
  return (
    <Group mt="sm">
      <ActButton {...sendLook} label="Send me one now" act={send} sent={sentTo('me')} />
      <ActButton {...sendLook} label="Send to all" act={send} sent={sentTo('all')} />
    </Group>
  );
};

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
              {may('reports:write') && (
                <Card title="Send now" about="The report of the last period that is over, as it is saved.">
                  <SendNow report={report} />
                </Card>
              )}
              <Card title="Sent lately">
                <Runs runs={report.runs} />
              </Card>
            </Stack>
          }
        >
          <ReportForm key={report.id} report={report} />
        </EditorPage>
      )}
    </LoadedItem>
  );
};

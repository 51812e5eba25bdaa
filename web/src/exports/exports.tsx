import { Alert, Anchor, Badge, Group, NativeSelect, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { PackageOpen } from 'lucide-react';
import { useState } from 'react';
import type { Destination, ExportedDay, WaitingExport } from '../api/responses.ts';
import { useApi, useMe } from '../app.ts';
import { CostAndUnpriced, Instant } from '../components/amount.tsx';
import { ActButton, DialogButton } from '../components/buttons.tsx';
import { ShownOnce } from '../components/copy.tsx';
import { ListPage, TextLink } from '../components/page.tsx';
import { actions, type Column, ListSection, Table, TwoLines } from '../components/table.tsx';
import { formatBytes, formatWhole, plural } from '../format/numbers.ts';
import { utcDayText } from '../format/time.ts';
import { choicesOf } from '../forms/fields.ts';
import { SubmitForm } from '../forms/submit-form.tsx';

const types = {
  manifests: 'Each exported day (manifest)',
  otlp: 'Each request (OpenTelemetry)',
} as const;
const urls = { manifests: 'URL', otlp: 'URL of the collector, without /v1/logs' } as const;

const CreateDestination = ({ onClose }: { readonly onClose: () => void }) => {
  const form = useForm({
    initialValues: { name: '', type: 'manifests' as Destination['type'], url: '', header: '', value: '' },
  });
  const create = useApi().useMutation('post', '/destinations');
  if (create.data)
    return (
      <ShownOnce secret={create.data.secret} what="secret" onClose={onClose}>
        What is sent is signed with a secret (X-Service-Signature).
      </ShownOnce>
    );
  return (
    <SubmitForm
      form={form}
      request={create}
      sent={({ header, value, ...rest }) => ({
        body: { ...rest, headers: header ? { [header.toLowerCase()]: value } : {} },
      })}
      failure="The destination was not created"
      submit="Create the destination"
    >
      <TextInput label="Name" maxLength={64} data-autofocus {...form.getInputProps('name')} />
      <NativeSelect label="What it gets" data={choicesOf(types)} {...form.getInputProps('type')} />
      <TextInput label={urls[form.values.type]} {...form.getInputProps('url')} />
      <Group grow>
        <TextInput label="Header (optional)" placeholder="authorization" {...form.getInputProps('header')} />
        <TextInput label="Its value" autoComplete="off" {...form.getInputProps('value')} />
      </Group>
    </SubmitForm>
  );
};

const Actions = ({ destination: { id, name, isActive } }: { readonly destination: Destination }) => {
  const api = useApi();
  const update = api.useMutation('patch', '/destinations/{id}', { meta: { failure: `${name} was not changed` } });
  const remove = api.useMutation('delete', '/destinations/{id}', {
    meta: { done: `${name} deleted.`, failure: `${name} was not deleted` },
  });
  const params = { path: { id } };
  return (
    <Group gap={4} justify="flex-end">
      <ActButton
        needs="reports:write"
        label={isActive ? 'Switch off' : 'Switch on'}
        aria-label={`Switch ${isActive ? 'off' : 'on'} ${name}`}
        act={update}
        sent={{ params, body: { isActive: !isActive } }}
      />
      <ActButton
        needs="reports:write"
        label="Delete"
        aria-label={`Delete ${name}`}
        act={remove}
        sent={{ params }}
        ask={{ title: 'Delete this destination?', text: 'Nothing is sent to it any more.', action: 'Delete it' }}
      />
    </Group>
  );
};

/** Whether it takes what is sent, and if not, why. */
const State = ({ isActive, failures, problem, sentAt }: Destination) => {
  const next = isActive ? 'It is tried again.' : 'Switched on, it goes on where it was.';
  const [color, label] = !isActive ? ['gray', 'off'] : failures > 0 ? ['yellow', 'failing'] : ['teal', 'on'];
  const taken = sentAt && (
    <>
      Took something <Instant iso={sentAt} ago />.
    </>
  );
  const failed = failures > 0 && `Failed ${plural(failures, 'time')}: ${problem}. ${next}`;
  return (
    <TwoLines second={failed || taken || 'Nothing was sent yet.'}>
      <Badge color={color}>{label}</Badge>
    </TwoLines>
  );
};

const destinationColumns: readonly Column<Destination>[] = [
  { head: 'Destination', cell: ({ name, url }) => <TwoLines second={url}>{name}</TwoLines> },
  { head: 'What it gets', className: 'wide-only', cell: ({ type }) => types[type] },
  { head: 'State', cell: State },
  actions('reports:write', (destination) => <Actions destination={destination} />),
];

const Destinations = () => (
  <ListSection
    title="Destinations"
    query={useApi().useQuery('get', '/destinations', {}, { refetchInterval: 60_000 })}
    columns={destinationColumns}
    none="None yet. A destination is an address that gets each exported day, or each request, without asking."
    action={
      <DialogButton needs="reports:write" size="xs" variant="default" label="New destination" title="New destination">
        {(close) => <CreateDestination onClose={close} />}
      </DialogButton>
    }
  />
);

/** Links end after 15 minutes. */
const REFRESH_MS = 10 * 60_000;

const datasets = {
  'cost-and-usage': 'Charges (FOCUS 1.2)',
  requests: 'Requests',
  names: 'Names of keys, projects, members',
} as const;
const formats = choicesOf({ parquet: 'Parquet', csv: 'CSV, gzipped' });

const columns: readonly Column<ExportedDay>[] = [
  { head: 'Day (UTC)', cell: ({ day }) => utcDayText(day) },
  { head: 'What', cell: ({ dataset }) => datasets[dataset] },
  { head: 'Rows', className: 'right num wide-only', cell: ({ rows }) => formatWhole(rows) },
  { head: 'Cost', className: 'right wide-only', cell: (day) => <CostAndUnpriced of={day} /> },
  { head: 'Exported', className: 'wide-only', cell: ({ exportedAt }) => <Instant iso={exportedAt} /> },
  {
    head: 'File',
    className: 'right',
    cell: ({ day, dataset, bytes, url }) => (
      <Anchor
        href={url}
        inherit
        underline="always"
        aria-label={`${formatBytes(bytes)}: download ${datasets[dataset]} of ${day}`}
      >
        {formatBytes(bytes)}
      </Anchor>
    ),
  },
];

/** Days whose files are missing or stale. */
const Waiting = ({ days }: { readonly days: readonly WaitingExport[] }) => {
  if (days.length === 0) return null;
  const [first, last] = [days[0], days.at(-1)].map((each) => utcDayText(each?.day ?? ''));
  const stale = days.filter(({ isExported }) => isExported).length;
  const late = days.filter(({ isLate }) => isLate).length;
  return (
    <Alert color={late > 0 ? 'red' : 'yellow'} title={`${plural(days.length, 'day')} not exported yet`}>
      {first === last ? `${first}.` : `${first} to ${last}.`}
      {stale > 0 &&
        ` ${plural(stale, 'day')} changed since the export: ${stale === 1 ? 'its file is' : 'their files are'} stale.`}
      {late > 0 && ` ${plural(late, 'day')} due for more than two hours: ask the operator to look at the exporter.`}
    </Alert>
  );
};

export const Exports = () => {
  const { may } = useMe();
  const [format, setFormat] = useState<'parquet' | 'csv'>('parquet');
  const query = useApi().useQuery(
    'get',
    '/exports',
    { params: { query: { format } } },
    { refetchInterval: REFRESH_MS },
  );
  return (
    <ListPage
      title="Exports"
      about={
        <>
          The last 30 days as files. Each day is available an hour after its end (UTC), and again when a late event or a
          new price changes it. Programs fetch the same files (<TextLink to="/connect">Connect</TextLink>), or hear of
          each day at a destination.
        </>
      }
      actions={
        <NativeSelect
          aria-label="Format"
          data={formats}
          value={format}
          onChange={({ currentTarget }) => setFormat(currentTarget.value as 'parquet' | 'csv')}
        />
      }
      query={query}
    >
      <Waiting days={query.data?.waiting ?? []} />
      {may('reports:read') && <Destinations />}
      <Table
        label="Exported days"
        columns={columns}
        items={query.data?.items.toReversed()}
        query={query}
        keyOf={({ day, dataset }) => `${day} ${dataset}`}
        empty={{
          icon: PackageOpen,
          title: 'No day exported yet',
          text:
            query.data?.waiting.length === 0
              ? 'Days that end from now on with requests are here an hour later (UTC).'
              : 'The days above are exported soon.',
        }}
      />
    </ListPage>
  );
};

import { Badge, Group, NativeSelect, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { MINUTE_MS } from '../../../lambda/domain/calendar/units.ts';
import type { Destination } from '../api/responses.ts';
import { useApi } from '../app.ts';
import { ActButton, DialogButton } from '../components/buttons.tsx';
import { ShownOnce } from '../components/copy.tsx';
import { actions, type Column, ListSection, TwoLines } from '../components/table.tsx';
import { useEvery } from '../components/use-every.ts';
import { plural } from '../format/quantity.ts';
import { formatAgo } from '../format/time.ts';
import { choicesOf } from '../forms/fields.ts';
import { SubmitForm } from '../forms/submit-form.tsx';

const types = {
  manifests: 'Each exported day (manifest)',
  otlp: 'Each request (OpenTelemetry)',
} as const;
const urls = { manifests: 'URL', otlp: 'URL of the collector, without /v1/logs' } as const;

/** Asks where to send what, then shows the secret that signs it, once. */
const CreateDestination = ({ onClose }: { readonly onClose: () => void }) => {
  const form = useForm({
    initialValues: { name: '', type: 'manifests' as Destination['type'], url: '', header: '', value: '' },
  });
  const create = useApi().useMutation('post', '/destinations');
  if (create.data)
    return (
      <ShownOnce secret={create.data.secret} what="secret" onClose={onClose}>
        What is sent is signed with this secret (X-Service-Signature). It is shown only once.
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

const Taken = ({ at }: { readonly at: string | null }) => {
  useEvery(MINUTE_MS);
  return at ? `Took something ${formatAgo(at)}.` : 'Nothing was sent yet.';
};

/** Whether it takes what is sent, and if not, why. */
const State = ({ isActive, failures, problem, sentAt }: Destination) => {
  const next = isActive ? 'It is tried again.' : 'Switched on, it goes on where it was.';
  const [color, label] = !isActive ? ['gray', 'off'] : failures > 0 ? ['yellow', 'failing'] : ['teal', 'on'];
  return (
    <TwoLines second={failures > 0 ? `Failed ${plural(failures, 'time')}: ${problem}. ${next}` : <Taken at={sentAt} />}>
      <Badge color={color}>{label}</Badge>
    </TwoLines>
  );
};

const columns: readonly Column<Destination>[] = [
  { head: 'Destination', cell: ({ name, url }) => <TwoLines second={url}>{name}</TwoLines> },
  { head: 'What it gets', className: 'wide-only', cell: ({ type }) => types[type] },
  { head: 'State', cell: State },
  actions('reports:write', (destination) => <Actions destination={destination} />),
];

/** Addresses that follow spend. */
export const Destinations = () => (
  <ListSection
    title="Destinations"
    query={useApi().useQuery('get', '/destinations', {}, { refetchInterval: 60_000 })}
    columns={columns}
    none="None yet. A destination is an address that gets each exported day, or each request, without asking."
    action={
      <DialogButton needs="reports:write" size="xs" variant="default" label="New destination" title="New destination">
        {(close) => <CreateDestination onClose={close} />}
      </DialogButton>
    }
  />
);

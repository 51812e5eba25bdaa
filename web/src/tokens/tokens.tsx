import { Badge, Button, Modal, NativeSelect, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { Plus, SquareTerminal } from 'lucide-react';
import { useState } from 'react';
import type { ApiToken } from '../api/responses.ts';
import { useApi, useApp, useMe } from '../app.ts';
import { Instant } from '../components/amount.tsx';
import { ConfirmButton } from '../components/confirm.tsx';
import { CopyToClipboard } from '../components/copy.tsx';
import { ListPage } from '../components/list-page.tsx';
import { notifyDone, notifyProblem } from '../components/notify.ts';
import { ShownOnce } from '../components/shown-once.tsx';
import { type Column, Table } from '../components/table.tsx';
import { required } from '../forms/fields.ts';
import { SubmitForm } from '../forms/submit-form.tsx';
import { type GrantableRole, roleOptions, roleTexts } from '../members/roles.ts';

const lifetimes = [
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '365', label: 'A year' },
  { value: '1825', label: 'Five years' },
];

/** Asks what the token is for, then shows it, once. */
const CreateToken = ({ onClose }: { readonly onClose: () => void }) => {
  const { me } = useMe();
  const form = useForm({
    initialValues: { name: '', role: 'viewer' as GrantableRole, lifetime: '90' },
    validate: { name: required('A name') },
  });
  const create = useApi().useMutation('post', '/tokens');
  if (create.data) {
    return (
      <ShownOnce secret={create.data.token} what="token" onClose={onClose}>
        This token is shown only once. Copy it now: later you can only replace it.
      </ShownOnce>
    );
  }
  return (
    <SubmitForm
      form={form}
      request={create}
      sent={({ name, role, lifetime }) => ({ body: { name, role, expiresInDays: Number(lifetime) } })}
      failure="The token was not created"
      submit="Create the token"
    >
      <TextInput
        label="Name"
        placeholder="Prometheus, nightly report …"
        maxLength={64}
        data-autofocus
        {...form.getInputProps('name')}
      />
      <NativeSelect
        label="Role"
        description="No token may change members, tokens or how people sign in."
        data={roleOptions(me)}
        {...form.getInputProps('role')}
      />
      <NativeSelect label="Valid for" data={lifetimes} {...form.getInputProps('lifetime')} />
    </SubmitForm>
  );
};

const Revoke = ({ token: { id, name } }: { readonly token: ApiToken }) => {
  const { may } = useMe();
  const revoke = useApi().useMutation('delete', '/tokens/{id}', {
    onSuccess: () => notifyDone(`${name} revoked.`),
    onError: notifyProblem('The token was not revoked'),
  });
  if (!may('tokens:write')) return null;
  return (
    <ConfirmButton
      loading={revoke.isPending}
      aria-label={`Revoke ${name}`}
      ask={{
        title: 'Revoke this token?',
        text: `Programs that use ${name} are refused within a minute. This cannot be undone.`,
        action: 'Revoke the token',
        onConfirm: () => revoke.mutate({ params: { path: { id } } }),
      }}
    >
      Revoke
    </ConfirmButton>
  );
};

const columns: readonly Column<ApiToken>[] = [
  {
    head: 'Token',
    cell: ({ name, maskedToken }) => (
      <>
        {name}
        <br />
        <span className="mono dim small">{maskedToken}</span>
      </>
    ),
  },
  { head: 'Role', className: 'wide-only', cell: ({ role }) => <span title={roleTexts[role]}>{role}</span> },
  {
    head: 'Expires',
    cell: ({ expiresAt }) =>
      Date.parse(expiresAt) <= Date.now() ? (
        <Badge variant="default" color="gray" tt="none">
          expired
        </Badge>
      ) : (
        <Instant iso={expiresAt} day />
      ),
  },
  {
    head: 'Last used',
    className: 'wide-only',
    cell: ({ lastUsedAt }) => (lastUsedAt ? <Instant iso={lastUsedAt} ago /> : <span className="dim">never</span>),
  },
  { head: 'Actions', className: 'right', cell: (token) => <Revoke token={token} /> },
];

/** A request that a token may make: spend, without an exchange of the token. */
const Example = () => {
  const { settings } = useApp();
  const command = `curl "${new URL(settings.apiUrl, location.origin)}/machine/spend?groupBy=model" -H "Authorization: Bearer $TOKEN"`;
  return (
    <section className="card card-pad" aria-labelledby="use">
      <div className="card-head">
        <h2 id="use">Use it</h2>
      </div>
      <p className="dim small hint">
        Paths below /machine take the token as it is. For the rest of the API, exchange it for a JWT: POST /auth/token
        with OAuth 2 client credentials.
      </p>
      <div className="secret">
        <code className="mono">{command}</code>
        <CopyToClipboard value={command} label="Copy the command" />
      </div>
    </section>
  );
};

export const Tokens = () => {
  const query = useApi().useQuery('get', '/tokens');
  const { may } = useMe();
  const [creating, setCreating] = useState(false);
  return (
    <ListPage
      title="API tokens"
      about="For programs that read spend or manage keys and rules. They belong to the account, not to a member."
      actions={
        may('tokens:write') && (
          <Button leftSection={<Plus size={16} />} onClick={() => setCreating(true)}>
            New token
          </Button>
        )
      }
      query={query}
      things="tokens"
    >
      <Table
        label="API tokens"
        columns={columns}
        items={query.data?.items}
        error={query.error}
        keyOf={({ id }) => id}
        empty={{
          icon: SquareTerminal,
          title: 'No API tokens yet',
          text: 'A monitoring system, a CI job or a report script signs in with one.',
        }}
      />
      <Example />
      <Modal opened={creating} onClose={() => setCreating(false)} title="New API token">
        <CreateToken onClose={() => setCreating(false)} />
      </Modal>
    </ListPage>
  );
};

import { Badge, NativeSelect, TextInput } from '@mantine/core';
import { type UseFormReturnType, useForm } from '@mantine/form';
import { Plus, SquareTerminal } from 'lucide-react';
import type { ApiToken } from '../api/responses.ts';
import { useApi, useMe } from '../app.ts';
import { Instant, LastUsed } from '../components/amount.tsx';
import { ActButton, DialogButton } from '../components/buttons.tsx';
import { ShownOnce } from '../components/copy.tsx';
import { ListPage, TextLink } from '../components/page.tsx';
import { actions, type Column, Table, TwoLines } from '../components/table.tsx';
import { choicesOf, required } from '../forms/fields.ts';
import { SubmitForm } from '../forms/submit-form.tsx';
import { roleOptions, roleTexts } from '../members/roles.ts';

const lifetimes = choicesOf({ 30: '30 days', 90: '90 days', 365: 'A year', 1825: 'Five years' });

type TokenRole = Exclude<ApiToken['role'], 'owner' | 'developer'>;

interface TokenValues {
  readonly role: TokenRole;
  readonly lifetime: string;
}
export const firstTokenValues: TokenValues = { role: 'viewer', lifetime: '90' };
export const sentToken = ({ role, lifetime }: TokenValues) => ({ role, expiresInDays: Number(lifetime) });

export const TokenFields = ({ form }: { readonly form: Pick<UseFormReturnType<TokenValues>, 'getInputProps'> }) => {
  const { me } = useMe();
  return (
    <>
      <NativeSelect
        label="Role"
        description="No token may change members, tokens or how people sign in."
        data={roleOptions(me).filter(({ value }) => value !== 'developer')}
        {...form.getInputProps('role')}
      />
      <NativeSelect label="Valid for" data={lifetimes} {...form.getInputProps('lifetime')} />
    </>
  );
};

const CreateToken = ({ onClose }: { readonly onClose: () => void }) => {
  const form = useForm({
    initialValues: { name: '', ...firstTokenValues },
    validate: { name: required('A name') },
  });
  const create = useApi().useMutation('post', '/tokens');
  if (create.data) return <ShownOnce secret={create.data.token} what="token" onClose={onClose} />;
  return (
    <SubmitForm
      form={form}
      request={create}
      sent={({ name, ...values }) => ({ body: { name, ...sentToken(values) } })}
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
      <TokenFields form={form} />
    </SubmitForm>
  );
};

const Revoke = ({ token: { id, name } }: { readonly token: ApiToken }) => {
  const revoke = useApi().useMutation('delete', '/tokens/{id}', {
    meta: { done: `${name} revoked.`, failure: 'The token was not revoked' },
  });
  return (
    <ActButton
      needs="tokens:write"
      label="Revoke"
      aria-label={`Revoke ${name}`}
      act={revoke}
      sent={{ params: { path: { id } } }}
      ask={{
        title: 'Revoke this token?',
        text: `Programs that use ${name} are refused within a minute. This cannot be undone.`,
        action: 'Revoke the token',
      }}
    />
  );
};

const columns: readonly Column<ApiToken>[] = [
  {
    head: 'Token',
    cell: ({ name, maskedToken }) => <TwoLines second={<span className="mono">{maskedToken}</span>}>{name}</TwoLines>,
  },
  { head: 'Role', className: 'wide-only', cell: ({ role }) => <span title={roleTexts[role]}>{role}</span> },
  {
    head: 'Expires',
    cell: ({ expiresAt }) =>
      Date.parse(expiresAt) <= Date.now() ? <Badge variant="default">expired</Badge> : <Instant iso={expiresAt} day />,
  },
  { head: 'Last used', className: 'wide-only', cell: ({ lastUsedAt }) => <LastUsed at={lastUsedAt} /> },
  actions('tokens:write', (token) => <Revoke token={token} />),
];

export const Tokens = () => {
  const query = useApi().useQuery('get', '/tokens');
  return (
    <ListPage
      title="API tokens"
      about={
        <>
          For programs that read spend or manage keys and rules. They belong to the account, not to a member.{' '}
          <TextLink to="/connect">Set a program up</TextLink>
        </>
      }
      actions={
        <DialogButton needs="tokens:write" leftSection={<Plus size={16} />} label="New token" title="New API token">
          {(close) => <CreateToken onClose={close} />}
        </DialogButton>
      }
      query={query}
      things="tokens"
    >
      <Table
        label="API tokens"
        columns={columns}
        query={query}
        empty={{
          icon: SquareTerminal,
          title: 'No API tokens yet',
          text: 'A monitoring system, a CI job or a report script signs in with one.',
        }}
      />
    </ListPage>
  );
};

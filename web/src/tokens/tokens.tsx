import { Badge, Button, Modal } from '@mantine/core';
import { Plus, SquareTerminal } from 'lucide-react';
import { useState } from 'react';
import type { ApiToken } from '../api/responses.ts';
import { useApi, useApp, useMe } from '../app.ts';
import { Instant } from '../components/amount.tsx';
import { ConfirmButton } from '../components/confirm.tsx';
import { CopyToClipboard } from '../components/copy.tsx';
import { ListPage } from '../components/list-page.tsx';
import { notifyDone, notifyProblem } from '../components/notify.ts';
import { type Column, Table } from '../components/table.tsx';
import { roleTexts } from '../members/roles.ts';
import { CreateToken } from './create-token.tsx';

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

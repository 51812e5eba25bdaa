import { Badge, Button, Modal, Skeleton } from '@mantine/core';
import { Plus, SquareTerminal } from 'lucide-react';
import { useState } from 'react';
import type { ApiToken } from '../api/responses.ts';
import { useApi, useApp } from '../app.ts';
import { Instant } from '../components/amount.tsx';
import { Confirm, type Question } from '../components/confirm.tsx';
import { CopyToClipboard } from '../components/copy.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { ListPage } from '../components/list-page.tsx';
import { notifyDone, notifyProblem } from '../components/notify.ts';
import { type Column, Table } from '../components/table.tsx';
import { roleTexts } from '../members/roles.ts';
import { useMe } from '../session/permissions.ts';
import { CreateToken } from './create-token.tsx';
import { useReloadTokens } from './use-reload-tokens.ts';

const Revoke = ({ token, onAsk }: { readonly token: ApiToken; readonly onAsk: (question: Question) => void }) => {
  const reload = useReloadTokens();
  const revoke = useApi().useMutation('delete', '/tokens/{id}', {
    onSuccess: () => notifyDone(`${token.name} revoked.`),
    onError: notifyProblem('The token was not revoked'),
    onSettled: () => reload(),
  });
  const ask = () =>
    onAsk({
      title: 'Revoke this token?',
      text: `Programs that use ${token.name} are refused within a minute. This cannot be undone.`,
      action: 'Revoke the token',
      onConfirm: () => revoke.mutate({ params: { path: { id: token.id } } }),
    });
  return (
    <Button
      size="compact-xs"
      variant="subtle"
      color="red"
      loading={revoke.isPending}
      aria-label={`Revoke ${token.name}`}
      onClick={ask}
    >
      Revoke
    </Button>
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
  const { data } = query;
  const { may } = useMe();
  const [creating, setCreating] = useState(false);
  const [asking, setAsking] = useState<Question>();
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
      skeleton={<Skeleton height={160} radius="lg" />}
      empty={
        data?.items.length === 0 && (
          <EmptyState icon={SquareTerminal} title="No API tokens yet">
            A monitoring system, a CI job or a report script signs in with one.
          </EmptyState>
        )
      }
    >
      {data && data.items.length > 0 && (
        <Table
          label="API tokens"
          columns={[
            ...columns,
            {
              head: 'Actions',
              className: 'right',
              cell: (token) => may('tokens:write') && <Revoke token={token} onAsk={setAsking} />,
            },
          ]}
          items={data.items}
          keyOf={({ id }) => id}
        />
      )}
      <Example />
      <Modal opened={creating} onClose={() => setCreating(false)} title="New API token">
        <CreateToken onClose={() => setCreating(false)} />
      </Modal>
      <Confirm question={asking} onClose={() => setAsking(undefined)} />
    </ListPage>
  );
};

import { Badge, Button, Modal, Skeleton } from '@mantine/core';
import { Plus, SquareTerminal } from 'lucide-react';
import { useState } from 'react';
import type { ApiToken } from '../api/responses.ts';
import { useApi, useApp } from '../app.ts';
import { Instant } from '../components/amount.tsx';
import { Confirm, type Question } from '../components/confirm.tsx';
import { CopyToClipboard } from '../components/copy.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { Heading } from '../components/heading.tsx';
import { LoadProblem } from '../components/load-problem.tsx';
import { notifyDone, notifyProblem } from '../components/notify.ts';
import { roleTexts } from '../members/roles.ts';
import { useMe } from '../session/permissions.ts';
import { CreateToken } from './create-token.tsx';
import { useReloadTokens } from './use-reload-tokens.ts';

const TokenRow = ({ token, onAsk }: { readonly token: ApiToken; readonly onAsk: (question: Question) => void }) => {
  const { may } = useMe();
  const reload = useReloadTokens();
  const revoke = useApi().useMutation('delete', '/tokens/{id}', {
    onSuccess: () => notifyDone(`${token.name} revoked.`),
    onError: notifyProblem('The token was not revoked'),
    onSettled: () => reload(),
  });
  const hasExpired = Date.parse(token.expiresAt) <= Date.now();
  return (
    <tr>
      <td>
        {token.name}
        <br />
        <span className="mono dim small">{token.maskedToken}</span>
      </td>
      <td className="wide-only">
        <span title={roleTexts[token.role]}>{token.role}</span>
      </td>
      <td>
        {hasExpired ? (
          <Badge variant="default" color="gray" tt="none">
            expired
          </Badge>
        ) : (
          <Instant iso={token.expiresAt} day />
        )}
      </td>
      <td className="wide-only">
        {token.lastUsedAt ? <Instant iso={token.lastUsedAt} ago /> : <span className="dim">never</span>}
      </td>
      <td className="right">
        {may('tokens:write') && (
          <Button
            size="compact-xs"
            variant="subtle"
            color="red"
            loading={revoke.isPending}
            aria-label={`Revoke ${token.name}`}
            onClick={() =>
              onAsk({
                title: 'Revoke this token?',
                text: `Programs that use ${token.name} are refused within a minute. This cannot be undone.`,
                action: 'Revoke the token',
                onConfirm: () => revoke.mutate({ params: { path: { id: token.id } } }),
              })
            }
          >
            Revoke
          </Button>
        )}
      </td>
    </tr>
  );
};

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
  const { data, error } = query;
  const { may } = useMe();
  const [creating, setCreating] = useState(false);
  const [asking, setAsking] = useState<Question>();
  return (
    <div className="page">
      <div className="page-head">
        <div>
          <Heading>API tokens</Heading>
          <p>For programs that read spend or manage keys and rules. They belong to the account, not to a member.</p>
        </div>
        {may('tokens:write') && (
          <Button leftSection={<Plus size={16} />} onClick={() => setCreating(true)}>
            New token
          </Button>
        )}
      </div>
      <LoadProblem query={query} title="The tokens could not be loaded" />
      {!data && !error && <Skeleton height={160} radius="lg" />}
      {data?.items.length === 0 && (
        <section className="card">
          <EmptyState icon={SquareTerminal} title="No API tokens yet">
            A monitoring system, a CI job or a report script signs in with one.
          </EmptyState>
        </section>
      )}
      {data && data.items.length > 0 && (
        <section className="card scroll-x" aria-label="API tokens">
          <table className="grid-table">
            <thead>
              <tr>
                <th>Token</th>
                <th className="wide-only">Role</th>
                <th>Expires</th>
                <th className="wide-only">Last used</th>
                <th className="right">Actions</th>
              </tr>
            </thead>
            <tbody>
              {data.items.map((token) => (
                <TokenRow key={token.id} token={token} onAsk={setAsking} />
              ))}
            </tbody>
          </table>
        </section>
      )}
      <Example />
      <Modal opened={creating} onClose={() => setCreating(false)} title="New API token">
        <CreateToken onClose={() => setCreating(false)} />
      </Modal>
      <Confirm question={asking} onClose={() => setAsking(undefined)} />
    </div>
  );
};

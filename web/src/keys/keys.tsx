import {
  ActionIcon,
  Alert,
  Badge,
  Button,
  Group,
  Modal,
  Skeleton,
  Stack,
  Text,
  TextInput,
  Tooltip,
} from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQueryClient } from '@tanstack/react-query';
import { KeyRound, Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import type { Key } from '../api/answers.ts';
import { problemOf } from '../api/problem.ts';
import { useApi } from '../app.ts';
import { Instant } from '../components/amount.tsx';
import { Copying } from '../components/copy.tsx';
import { AnchorLink } from '../components/links.tsx';
import { notifyDone } from '../components/notify.ts';
import { ProblemNote } from '../components/problem-note.tsx';
import { plural } from '../format/quantity.ts';
import { SdkSnippet } from '../providers/sdk-snippet.tsx';
import classes from './keys.module.css';
import { PLACEHOLDER, useOwnKey } from './use-own-key.ts';

const useKeysChanged = () => {
  const queryClient = useQueryClient();
  return () => queryClient.invalidateQueries({ queryKey: ['get', '/keys'] });
};

/** A new key: its name first, then the key itself, this once. */
const CreateKey = ({
  onClose,
  onCreated,
}: {
  readonly onClose: () => void;
  readonly onCreated: (key: string) => void;
}) => {
  const changed = useKeysChanged();
  const form = useForm({
    initialValues: { name: '' },
    validate: { name: (name) => (name.trim() ? null : 'A name tells keys apart.') },
  });
  const create = useApi().useMutation('post', '/keys', {
    onSuccess: ({ key }) => {
      onCreated(key);
      return changed();
    },
  });
  if (create.data) {
    return (
      <Stack>
        <Alert color="yellow" variant="light">
          This key is shown once. Copy it now: later it can only be replaced.
        </Alert>
        <div className={classes['new-key']}>
          <code className="mono">{create.data.key}</code>
          <Copying value={create.data.key} label="Copy the key" />
        </div>
        <Button onClick={onClose}>Done</Button>
      </Stack>
    );
  }
  return (
    <form noValidate onSubmit={form.onSubmit((body) => create.mutate({ body }))}>
      <Stack>
        {create.isError && <ProblemNote error={create.error} title="The key was not created" />}
        <TextInput
          label="Name"
          placeholder="Production, batch jobs, Ada’s laptop …"
          maxLength={64}
          data-autofocus
          {...form.getInputProps('name')}
        />
        <Button type="submit" loading={create.isPending}>
          Create the key
        </Button>
      </Stack>
    </form>
  );
};

const RevokeKey = ({ target, onClose }: { readonly target: Key; readonly onClose: () => void }) => {
  const changed = useKeysChanged();
  const revoke = useApi().useMutation('delete', '/keys/{id}', {
    onSuccess: () => {
      notifyDone(`${target.name} is revoked.`);
      onClose();
      return changed();
    },
  });
  // The API refuses to revoke the last active key unless told to.
  const isLast = revoke.isError && problemOf(revoke.error).code === 'CONFLICT';
  const send = () => revoke.mutate({ params: { path: { id: target.id }, query: isLast ? { force: 'true' } : {} } });
  return (
    <Stack>
      <Text size="sm">
        Requests with <strong>{target.name}</strong> (<span className="mono">{target.maskedKey}</span>) are refused
        within a minute, for good. What it spent stays in every report.
      </Text>
      {target.lastUsedAt && (
        <Text size="sm" c="dimmed">
          Last used <Instant iso={target.lastUsedAt} ago />.
        </Text>
      )}
      {isLast && (
        <Alert color="yellow" variant="light">
          It is the last active key: all tracked traffic of the account would stop.
        </Alert>
      )}
      {revoke.isError && !isLast && <ProblemNote error={revoke.error} title="The key was not revoked" />}
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button color="red" loading={revoke.isPending} onClick={send}>
          {isLast ? 'Revoke the last key all the same' : 'Revoke the key'}
        </Button>
      </Group>
    </Stack>
  );
};

const KeyRow = ({ item, onRevoke }: { readonly item: Key; readonly onRevoke: () => void }) => (
  <tr className={item.status === 'revoked' ? classes['revoked'] : undefined}>
    <td>
      <span className={classes['name']}>{item.name}</span>
      <span className={`mono dim ${classes['masked']}`}>{item.maskedKey}</span>
    </td>
    <td className="wide-only">
      <Instant iso={item.createdAt} />
    </td>
    <td>{item.lastUsedAt ? <Instant iso={item.lastUsedAt} ago /> : <span className="dim">never</span>}</td>
    <td className="right">
      {item.status === 'revoked' ? (
        <Badge variant="default" color="gray" tt="none">
          revoked
        </Badge>
      ) : (
        <Tooltip label="Revoke">
          <ActionIcon variant="subtle" color="gray" aria-label={`Revoke ${item.name}`} onClick={onRevoke}>
            <Trash2 size={16} />
          </ActionIcon>
        </Tooltip>
      )}
    </td>
  </tr>
);

export const Keys = () => {
  const { data, error, refetch } = useApi().useQuery('get', '/keys');
  const ownKey = useOwnKey();
  const [created, setCreated] = useState<string>();
  const [creating, setCreating] = useState(false);
  const [revoking, setRevoking] = useState<Key>();
  const atLimit = data !== undefined && data.active >= data.limit;
  const snippetKey = created ?? ownKey;
  return (
    <div className="page">
      <div className="page-head">
        <div>
          <h1>Keys</h1>
          <p>A service key says whose spend a request is. Give each application or team its own.</p>
        </div>
        <div className="page-actions">
          {data && (
            <span className="dim small num">
              {data.active} of {plural(data.limit, 'key')} in use
              {atLimit && (
                <>
                  {': '}
                  <AnchorLink to="/billing" underline="always">
                    a larger plan has more
                  </AnchorLink>
                </>
              )}
            </span>
          )}
          <Button leftSection={<Plus size={16} />} disabled={!data || atLimit} onClick={() => setCreating(true)}>
            New key
          </Button>
        </div>
      </div>
      {error && <ProblemNote error={error} onRetry={() => refetch()} title="The keys could not be read" />}
      {!error && (
        <section className="card scroll-x" aria-label="Service keys">
          <table className="grid-table">
            <thead>
              <tr>
                <th>Key</th>
                <th className="wide-only">Created</th>
                <th>Last used</th>
                <th className="right">
                  <span className={classes['hidden']}>Actions</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {data
                ? data.items.map((item) => <KeyRow key={item.id} item={item} onRevoke={() => setRevoking(item)} />)
                : [1, 2].map((row) => (
                    <tr key={row}>
                      <td colSpan={4}>
                        <Skeleton height={38} />
                      </td>
                    </tr>
                  ))}
            </tbody>
          </table>
        </section>
      )}
      <section className="card card-pad" aria-labelledby="use">
        <div className="card-head">
          <h2 id="use">
            <KeyRound size={16} className={classes['icon']} aria-hidden /> Use it
          </h2>
        </div>
        <p className={`dim small ${classes['hint']}`}>
          {snippetKey === PLACEHOLDER
            ? 'Put your key where it says so: keys are shown once, when they are made.'
            : `With ${created ? 'the key you just made' : 'the account’s first key'}. What is marked is new; add X-Service-Tag with a label of your own to tell workloads apart.`}
        </p>
        {snippetKey ? <SdkSnippet serviceKey={snippetKey} /> : <Skeleton height={240} />}
      </section>
      <Modal opened={creating} onClose={() => setCreating(false)} title="New service key">
        <CreateKey onClose={() => setCreating(false)} onCreated={setCreated} />
      </Modal>
      <Modal opened={revoking !== undefined} onClose={() => setRevoking(undefined)} title="Revoke this key?">
        {revoking && <RevokeKey target={revoking} onClose={() => setRevoking(undefined)} />}
      </Modal>
    </div>
  );
};

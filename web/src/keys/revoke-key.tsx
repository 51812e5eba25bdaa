import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import { problemOf } from '../api/problem.ts';
import type { Key } from '../api/responses.ts';
import { useApi } from '../app.ts';
import { Instant } from '../components/amount.tsx';
import { notifyDone } from '../components/notify.ts';
import { ProblemNote } from '../components/problem-note.tsx';
import { useKeysChanged } from './use-keys-changed.ts';

export const RevokeKey = ({ target, onClose }: { readonly target: Key; readonly onClose: () => void }) => {
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

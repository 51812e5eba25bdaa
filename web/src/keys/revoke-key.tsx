import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import { problemOf } from '../api/problem.ts';
import type { Key } from '../api/responses.ts';
import { useApi } from '../app.ts';
import { Instant } from '../components/amount.tsx';
import { notifyDone } from '../components/notify.ts';
import { ProblemNote } from '../components/problem-note.tsx';
import { useReloadKeys } from './use-reload-keys.ts';

export const RevokeKey = ({ target, onClose }: { readonly target: Key; readonly onClose: () => void }) => {
  const reloadKeys = useReloadKeys();
  const revoke = useApi().useMutation('delete', '/keys/{id}', {
    onSuccess: () => {
      notifyDone(`${target.name} revoked.`);
      onClose();
      return reloadKeys();
    },
  });
  // The API revokes the last active key only with `force`.
  const isLast = revoke.isError && problemOf(revoke.error).code === 'CONFLICT';
  const send = () => revoke.mutate({ params: { path: { id: target.id }, query: isLast ? { force: 'true' } : {} } });
  return (
    <Stack>
      <Text size="sm">
        Requests with <strong>{target.name}</strong> (<span className="mono">{target.maskedKey}</span>) will be rejected
        within a minute. This cannot be undone. Its spend stays in all reports.
      </Text>
      {target.lastUsedAt && (
        <Text size="sm" c="dimmed">
          Last used <Instant iso={target.lastUsedAt} ago />.
        </Text>
      )}
      {isLast && (
        <Alert color="yellow" variant="light">
          This is the last active key: all tracked traffic of the account would stop.
        </Alert>
      )}
      {revoke.isError && !isLast && <ProblemNote error={revoke.error} title="The key was not revoked" />}
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button color="red" loading={revoke.isPending} onClick={send}>
          {isLast ? 'Revoke the last key' : 'Revoke the key'}
        </Button>
      </Group>
    </Stack>
  );
};

import { Button, NativeSelect, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import type { Key } from '../api/responses.ts';
import { useApi } from '../app.ts';
import { ProblemNote } from '../components/problem-note.tsx';
import { ShownOnce } from '../components/shown-once.tsx';
import { useReloadKeys } from './use-reload-keys.ts';

const overlaps = [
  { value: '0', label: 'Not at all: it may have leaked' },
  { value: '1', label: 'For an hour' },
  { value: '24', label: 'For a day' },
  { value: '168', label: 'For seven days' },
];

/** Gives a key a new secret, and shows it once. */
export const RotateKey = ({ target, onClose }: { readonly target: Key; readonly onClose: () => void }) => {
  const reloadKeys = useReloadKeys();
  const [overlap, setOverlap] = useState('24');
  const rotate = useApi().useMutation('post', '/keys/{id}/rotate', { onSuccess: () => reloadKeys() });
  if (rotate.data) {
    return (
      <ShownOnce secret={rotate.data.key} what="key" onClose={onClose}>
        This secret is shown only once. Copy it now.
      </ShownOnce>
    );
  }
  return (
    <Stack>
      <Text size="sm">
        <strong>{target.name}</strong> gets a new secret. Its name, project and spend stay.
      </Text>
      {rotate.isError && <ProblemNote error={rotate.error} title="The key was not rotated" />}
      <NativeSelect
        label="The former secret still works"
        data={overlaps}
        value={overlap}
        onChange={({ currentTarget }) => setOverlap(currentTarget.value)}
      />
      <Button
        loading={rotate.isPending}
        onClick={() => rotate.mutate({ params: { path: { id: target.id } }, body: { overlapHours: Number(overlap) } })}
      >
        Rotate the key
      </Button>
    </Stack>
  );
};

import { Button, Group, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { View } from '../api/responses.ts';
import { useApi } from '../app.ts';
import { ConfirmButton } from '../components/confirm.tsx';
import { notifyProblem } from '../components/notify.ts';
import { Table } from '../components/table.tsx';
import { pageNames } from './use-views.ts';

interface RenameProps {
  readonly view: View;
  readonly busy: boolean;
  readonly onRename: (name: string) => void;
}

const Rename = ({ view, busy, onRename }: RenameProps) => {
  const [name, setName] = useState(view.name);
  const isChanged = name.trim() !== '' && name.trim() !== view.name;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (isChanged) onRename(name);
      }}
    >
      <Group gap="xs" wrap="nowrap">
        <TextInput
          size="xs"
          flex={1}
          miw={0}
          aria-label={`Name of ${view.name}`}
          maxLength={60}
          value={name}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
        />
        <Button type="submit" size="compact-xs" variant="subtle" flex="none" disabled={!isChanged} loading={busy}>
          Rename
        </Button>
      </Group>
    </form>
  );
};

/** Renames and deletes views. */
export const ManageViews = ({ views }: { readonly views: readonly View[] }) => {
  const api = useApi();
  const rename = api.useMutation('patch', '/views/{id}', { onError: notifyProblem('The view was not renamed') });
  const remove = api.useMutation('delete', '/views/{id}', { onError: notifyProblem('The view was not deleted') });
  const idOf = ({ id }: View) => ({ params: { path: { id } } });
  return (
    <Table
      label="Saved views"
      frame=""
      columns={[
        {
          head: 'Name',
          cell: (view) => (
            <Rename
              key={view.name}
              view={view}
              busy={rename.isPending && rename.variables.params.path.id === view.id}
              onRename={(name) => rename.mutate({ ...idOf(view), body: { name } })}
            />
          ),
        },
        { head: 'Page', className: 'wide-only', cell: ({ page }) => pageNames[page] },
        {
          head: 'Actions',
          className: 'right',
          cell: (view) => (
            <ConfirmButton
              aria-label={`Delete ${view.name}`}
              ask={{
                title: `Delete ${view.name}?`,
                text: 'No member will see this view any more.',
                action: 'Delete',
                onConfirm: () => remove.mutate(idOf(view)),
              }}
            >
              Delete
            </ConfirmButton>
          ),
        },
      ]}
      items={views}
      keyOf={({ id }) => id}
    />
  );
};

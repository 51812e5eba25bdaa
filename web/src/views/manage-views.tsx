import { Button, Group, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { View } from '../api/responses.ts';
import { useApi } from '../app.ts';
import { Confirm, type Question } from '../components/confirm.tsx';
import { notifyProblem } from '../components/notify.ts';
import { pageNames } from './use-views.ts';

const Rename = ({
  view,
  busy,
  onRename,
}: {
  readonly view: View;
  readonly busy: boolean;
  readonly onRename: (name: string) => void;
}) => {
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
  const queries = useQueryClient();
  const [question, setQuestion] = useState<Question>();
  const onSettled = () => queries.invalidateQueries({ queryKey: ['get', '/views'] });
  const rename = api.useMutation('patch', '/views/{id}', {
    onError: notifyProblem('The view was not renamed'),
    onSettled,
  });
  const remove = api.useMutation('delete', '/views/{id}', {
    onError: notifyProblem('The view was not deleted'),
    onSettled,
  });
  const idOf = ({ id }: View) => ({ params: { path: { id } } });
  const ask = (view: View) =>
    setQuestion({
      title: `Delete ${view.name}?`,
      text: 'No member will see this view any more.',
      action: 'Delete',
      onConfirm: () => remove.mutate(idOf(view)),
    });
  return (
    <>
      <table className="grid-table">
        <thead>
          <tr>
            <th>Name</th>
            <th className="wide-only">Page</th>
            <th className="right">Actions</th>
          </tr>
        </thead>
        <tbody>
          {views.map((view) => (
            <tr key={view.id}>
              <td>
                <Rename
                  key={view.name}
                  view={view}
                  busy={rename.isPending && rename.variables.params.path.id === view.id}
                  onRename={(name) => rename.mutate({ ...idOf(view), body: { name } })}
                />
              </td>
              <td className="wide-only">{pageNames[view.page]}</td>
              <td className="right">
                <Button
                  size="compact-xs"
                  variant="subtle"
                  color="red"
                  aria-label={`Delete ${view.name}`}
                  onClick={() => ask(view)}
                >
                  Delete
                </Button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <Confirm question={question} onClose={() => setQuestion(undefined)} />
    </>
  );
};

import { Button, Group, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useApi, useMe } from '../app.ts';
import { notifyProblem } from '../components/notify.ts';
import { ProblemNote } from '../components/problem-note.tsx';
import { Table } from '../components/table.tsx';
import { plural } from '../format/quantity.ts';

const AddProject = () => {
  const [name, setName] = useState('');
  const create = useApi().useMutation('post', '/projects', {
    onSuccess: () => setName(''),
    onError: notifyProblem('The project was not created'),
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        create.mutate({ body: { name } });
      }}
    >
      <Group gap="xs">
        <TextInput
          size="xs"
          aria-label="Name of a new project"
          placeholder="New project"
          maxLength={64}
          value={name}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
        />
        <Button type="submit" size="xs" variant="default" disabled={name.trim() === ''}>
          Add
        </Button>
      </Group>
    </form>
  );
};

/** The account's projects; who may, adds and deletes some. */
export const Projects = () => {
  const api = useApi();
  const { me, may } = useMe();
  const { data, error, refetch } = api.useQuery('get', '/projects');
  const remove = api.useMutation('delete', '/projects/{id}', { onError: notifyProblem('The project was not deleted') });
  return (
    <>
      {error && <ProblemNote error={error} onRetry={() => refetch()} title="The projects could not be loaded" />}
      <Table
        label="Projects"
        columns={[
          { head: 'Project', cell: ({ name }) => name },
          { head: 'Keys', cell: ({ keys }) => plural(keys.length, 'key') },
          {
            head: 'Actions',
            className: 'right',
            cell: ({ id, isDefault, keys }) =>
              may('projects:write') &&
              !isDefault &&
              keys.length === 0 && (
                <Button
                  size="compact-xs"
                  variant="subtle"
                  color="red"
                  onClick={() => remove.mutate({ params: { path: { id } } })}
                >
                  Delete
                </Button>
              ),
          },
        ]}
        items={(me && data)?.items}
        error={error}
        keyOf={({ id }) => id}
        // As high as the default project and the form, so that nothing below moves.
        skeletons={[22, 30]}
        lastRow={me && data && may('projects:write') && <AddProject />}
      />
    </>
  );
};

import { Button, Group, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useApi, useMe } from '../app.ts';
import { ActButton } from '../components/buttons.tsx';
import { LoadProblem } from '../components/page.tsx';
import { Table } from '../components/table.tsx';
import { plural } from '../format/quantity.ts';
import { PauseButton } from '../limits/pause-button.tsx';
import { SpendOf } from './spend-of.tsx';

const AddProject = () => {
  const [name, setName] = useState('');
  const create = useApi().useMutation('post', '/projects', {
    onSuccess: () => setName(''),
    meta: { failure: 'The project was not created' },
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
  const { may } = useMe();
  const query = api.useQuery('get', '/projects');
  const remove = api.useMutation('delete', '/projects/{id}', { meta: { failure: 'The project was not deleted' } });
  return (
    <>
      <LoadProblem query={query} title="The projects could not be loaded" />
      <Table
        label="Projects"
        columns={[
          { head: 'Project', cell: ({ name }) => name },
          { head: 'Keys', className: 'wide-only', cell: ({ keys }) => plural(keys.length, 'key') },
          { head: 'Spend, 30 days', className: 'right', cell: ({ id }) => <SpendOf by="project" id={id} /> },
          {
            head: 'Actions',
            className: 'right',
            cell: ({ id, name, isDefault, keys }) =>
              keys.length > 0 ? (
                <PauseButton isSmall label={`Pause ${name}`} start={{ project: id, name: `Project ${name}` }} />
              ) : (
                may('projects:write') &&
                !isDefault && <ActButton color="red" label="Delete" act={remove} sent={{ params: { path: { id } } }} />
              ),
          },
        ]}
        query={query}
        // As high as the default project and the form, so that nothing below moves.
        skeletons={[22, 30]}
        lastRow={query.data && may('projects:write') && <AddProject />}
      />
    </>
  );
};

import { Button, Group, Skeleton, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useApi } from '../app.ts';
import { notifyProblem } from '../components/notify.ts';
import { ProblemNote } from '../components/problem-note.tsx';
import { plural } from '../format/quantity.ts';
import { useMe } from '../session/permissions.ts';

/** The account's projects; who may, adds and deletes some. */
export const Projects = () => {
  const api = useApi();
  const { me, may } = useMe();
  const queryClient = useQueryClient();
  const { data, error, refetch } = api.useQuery('get', '/projects');
  const [name, setName] = useState('');
  const reload = () => queryClient.invalidateQueries({ queryKey: ['get', '/projects'] });
  const create = api.useMutation('post', '/projects', {
    onSuccess: () => {
      setName('');
      return reload();
    },
    onError: notifyProblem('The project was not created'),
  });
  const remove = api.useMutation('delete', '/projects/{id}', {
    onError: notifyProblem('The project was not deleted'),
    onSettled: () => reload(),
  });
  return (
    <section className="card scroll-x" aria-label="Projects">
      {error && <ProblemNote error={error} onRetry={() => refetch()} title="The projects could not be loaded" />}
      <table className="grid-table">
        <thead>
          <tr>
            <th>Project</th>
            <th>Keys</th>
            <th className="right">Actions</th>
          </tr>
        </thead>
        <tbody>
          {!error &&
            (!data || !me) &&
            // As high as the default project and the form, so that nothing below moves.
            [22, 30].map((height) => (
              <tr key={height}>
                <td colSpan={3}>
                  <Skeleton height={height} />
                </td>
              </tr>
            ))}
          {(me && data)?.items.map((project) => (
            <tr key={project.id}>
              <td>{project.name}</td>
              <td>{plural(project.keys.length, 'key')}</td>
              <td className="right">
                {may('projects:write') && !project.isDefault && project.keys.length === 0 && (
                  <Button
                    size="compact-xs"
                    variant="subtle"
                    color="red"
                    onClick={() => remove.mutate({ params: { path: { id: project.id } } })}
                  >
                    Delete
                  </Button>
                )}
              </td>
            </tr>
          ))}
          {data && may('projects:write') && (
            <tr>
              <td colSpan={3}>
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
              </td>
            </tr>
          )}
        </tbody>
      </table>
    </section>
  );
};

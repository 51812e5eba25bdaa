import { Button, NativeSelect, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { Key } from '../api/responses.ts';
import { useApi } from '../app.ts';
import { notifyDone } from '../components/notify.ts';
import { ProblemNote } from '../components/problem-note.tsx';
import { changesOf } from '../forms/changes.ts';
import { fieldErrors } from '../forms/fields.ts';
import { useReloadKeys } from './use-reload-keys.ts';

const bodyOf = ({ name, project, lastDay }: Readonly<Record<'name' | 'project' | 'lastDay', string>>) => ({
  name,
  project,
  validUntil: lastDay === '' ? null : `${lastDay}T23:59:59Z`,
});

/** Renames a key, moves it to another project, or changes the day it ends. */
export const EditKey = ({ target, onClose }: { readonly target: Key; readonly onClose: () => void }) => {
  const reloadKeys = useReloadKeys();
  const api = useApi();
  const { data: projects } = api.useQuery('get', '/projects');
  const form = useForm({
    initialValues: { name: target.name, project: target.project, lastDay: target.validUntil?.slice(0, 10) ?? '' },
    validate: { name: (name) => (name.trim() ? null : 'A name is required.') },
  });
  const change = api.useMutation('patch', '/keys/{id}', {
    onError: (error) => form.setErrors(fieldErrors(error, ...Object.keys(form.values))),
    onSuccess: () => {
      notifyDone('Key changed.');
      onClose();
      return reloadKeys();
    },
  });
  const submit = (values: typeof form.values) =>
    change.mutate({
      params: { path: { id: target.id } },
      body: changesOf(bodyOf(form.getInitialValues()), bodyOf(values)),
    });
  return (
    <form noValidate onSubmit={form.onSubmit(submit)}>
      <Stack>
        {change.isError && <ProblemNote error={change.error} title="The key was not changed" />}
        <TextInput label="Name" maxLength={64} data-autofocus {...form.getInputProps('name')} />
        <NativeSelect
          label="Project"
          description="Its past spend moves along."
          data={(projects?.items ?? []).map(({ id, name }) => ({ value: id, label: name }))}
          {...form.getInputProps('project')}
        />
        <TextInput
          type="date"
          label="Last day (UTC, optional)"
          description="Requests with the key are rejected afterwards."
          {...form.getInputProps('lastDay')}
        />
        <Button type="submit" loading={change.isPending}>
          Save
        </Button>
      </Stack>
    </form>
  );
};

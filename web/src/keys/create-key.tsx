import { Button, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useApi } from '../app.ts';
import { ProblemNote } from '../components/problem-note.tsx';
import { ShownOnce } from '../components/shown-once.tsx';
import { fieldErrors } from '../forms/fields.ts';
import { useReloadKeys } from './use-reload-keys.ts';

/** Asks for a name, then shows the new key, once. */
export const CreateKey = ({
  onClose,
  onCreated,
}: {
  readonly onClose: () => void;
  readonly onCreated: (key: string) => void;
}) => {
  const reloadKeys = useReloadKeys();
  const form = useForm({
    initialValues: { name: '' },
    validate: { name: (name) => (name.trim() ? null : 'A name is required.') },
  });
  const create = useApi().useMutation('post', '/keys', {
    onError: (error) => form.setErrors(fieldErrors(error, ...Object.keys(form.values))),
    onSuccess: ({ key }) => {
      onCreated(key);
      return reloadKeys();
    },
  });
  if (create.data) {
    return (
      <ShownOnce secret={create.data.key} what="key" onClose={onClose}>
        This key is shown only once. Copy it now: later you can only replace it.
      </ShownOnce>
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

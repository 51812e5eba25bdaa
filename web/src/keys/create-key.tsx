import { Alert, Button, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useApi } from '../app.ts';
import { Copying } from '../components/copy.tsx';
import { ProblemNote } from '../components/problem-note.tsx';
import classes from './keys.module.css';
import { useKeysChanged } from './use-keys-changed.ts';

/** A new key: its name first, then the key itself, this once. */
export const CreateKey = ({
  onClose,
  onCreated,
}: {
  readonly onClose: () => void;
  readonly onCreated: (key: string) => void;
}) => {
  const changed = useKeysChanged();
  const form = useForm({
    initialValues: { name: '' },
    validate: { name: (name) => (name.trim() ? null : 'A name tells keys apart.') },
  });
  const create = useApi().useMutation('post', '/keys', {
    onSuccess: ({ key }) => {
      onCreated(key);
      return changed();
    },
  });
  if (create.data) {
    return (
      <Stack>
        <Alert color="yellow" variant="light">
          This key is shown once. Copy it now: later it can only be replaced.
        </Alert>
        <div className={classes['new-key']}>
          <code className="mono">{create.data.key}</code>
          <Copying value={create.data.key} label="Copy the key" />
        </div>
        <Button onClick={onClose}>Done</Button>
      </Stack>
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

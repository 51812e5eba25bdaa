import { Button, NativeSelect, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useApi } from '../app.ts';
import { ProblemNote } from '../components/problem-note.tsx';
import { ShownOnce } from '../components/shown-once.tsx';
import { fieldErrors, required } from '../forms/fields.ts';
import { type GrantableRole, roleOptions } from '../members/roles.ts';
import { useMe } from '../session/permissions.ts';
import { useReloadTokens } from './use-reload-tokens.ts';

const lifetimes = [
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '365', label: 'A year' },
  { value: '1825', label: 'Five years' },
];

/** Asks what the token is for, then shows it, once. */
export const CreateToken = ({ onClose }: { readonly onClose: () => void }) => {
  const reload = useReloadTokens();
  const { me } = useMe();
  const form = useForm({
    initialValues: { name: '', role: 'viewer' as GrantableRole, lifetime: '90' },
    validate: { name: required('A name') },
  });
  const create = useApi().useMutation('post', '/tokens', {
    onSuccess: () => reload(),
    onError: (error) => form.setErrors(fieldErrors(error, 'name', 'role')),
  });
  if (create.data) {
    return (
      <ShownOnce secret={create.data.token} what="token" onClose={onClose}>
        This token is shown only once. Copy it now: later you can only replace it.
      </ShownOnce>
    );
  }
  return (
    <form
      noValidate
      onSubmit={form.onSubmit(({ name, role, lifetime }) =>
        create.mutate({ body: { name, role, expiresInDays: Number(lifetime) } }),
      )}
    >
      <Stack>
        {create.isError && <ProblemNote error={create.error} title="The token was not created" />}
        <TextInput
          label="Name"
          placeholder="Prometheus, nightly report …"
          maxLength={64}
          data-autofocus
          {...form.getInputProps('name')}
        />
        <NativeSelect
          label="Role"
          description="No token may change members, tokens or how people sign in."
          data={roleOptions(me)}
          {...form.getInputProps('role')}
        />
        <NativeSelect label="Valid for" data={lifetimes} {...form.getInputProps('lifetime')} />
        <Button type="submit" loading={create.isPending}>
          Create the token
        </Button>
      </Stack>
    </form>
  );
};

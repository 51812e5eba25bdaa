import { NativeSelect, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useApi, useMe } from '../app.ts';
import { ShownOnce } from '../components/shown-once.tsx';
import { required } from '../forms/fields.ts';
import { SubmitForm } from '../forms/submit-form.tsx';
import { type GrantableRole, roleOptions } from '../members/roles.ts';

const lifetimes = [
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '365', label: 'A year' },
  { value: '1825', label: 'Five years' },
];

/** Asks what the token is for, then shows it, once. */
export const CreateToken = ({ onClose }: { readonly onClose: () => void }) => {
  const { me } = useMe();
  const form = useForm({
    initialValues: { name: '', role: 'viewer' as GrantableRole, lifetime: '90' },
    validate: { name: required('A name') },
  });
  const create = useApi().useMutation('post', '/tokens');
  if (create.data) {
    return (
      <ShownOnce secret={create.data.token} what="token" onClose={onClose}>
        This token is shown only once. Copy it now: later you can only replace it.
      </ShownOnce>
    );
  }
  return (
    <SubmitForm
      form={form}
      request={create}
      sent={({ name, role, lifetime }) => ({ body: { name, role, expiresInDays: Number(lifetime) } })}
      failure="The token was not created"
      submit="Create the token"
    >
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
    </SubmitForm>
  );
};

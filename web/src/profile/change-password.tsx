import { Button, Group, PasswordInput, Stack } from '@mantine/core';
import { useForm } from '@mantine/form';
import { Credentials, credentialsOf, REFUSALS } from '../account/credentials.tsx';
import type { Me } from '../api/responses.ts';
import { useApi, useApp } from '../app.ts';
import { ProblemNote } from '../components/problem-note.tsx';
import { fieldErrors, PASSWORD_RULE, passwordProblem, required } from '../forms/fields.ts';

export const ChangePassword = ({ user: { totpEnabled } }: { readonly user: Me['user'] }) => {
  const { session } = useApp();
  const form = useForm({
    initialValues: { password: '', newPassword: '', totp: '' },
    validate: { password: required('The password'), newPassword: passwordProblem },
  });
  const change = useApi().useMutation('post', '/auth/change-password', {
    onSuccess: () => session.end('passwordChanged'),
    onError: (error) => form.setErrors(fieldErrors(error, 'password', 'newPassword', 'totp')),
  });
  const submit = ({ newPassword, ...credentials }: typeof form.values) =>
    change.mutate({ body: { ...credentialsOf(credentials), newPassword } });
  return (
    <form noValidate onSubmit={form.onSubmit(submit)}>
      <Stack>
        {change.isError && (
          <ProblemNote error={change.error} title="The password was not changed" messages={REFUSALS} />
        )}
        <Credentials label="Current password" asksForCode={totpEnabled} inputProps={form.getInputProps} />
        <PasswordInput
          label="New password"
          description={PASSWORD_RULE}
          autoComplete="new-password"
          {...form.getInputProps('newPassword')}
        />
        <Group>
          <Button type="submit" loading={change.isPending}>
            Change the password
          </Button>
        </Group>
      </Stack>
    </form>
  );
};

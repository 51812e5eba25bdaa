import { useForm } from '@mantine/form';
import { Credentials, credentialsOf, NewPassword, REFUSALS } from '../account/credentials.tsx';
import type { Me } from '../api/responses.ts';
import { useApi, useApp } from '../app.ts';
import { passwordProblem, required } from '../forms/fields.ts';
import { SubmitForm } from '../forms/submit-form.tsx';

export const ChangePassword = ({ user: { totpEnabled } }: { readonly user: Me['user'] }) => {
  const { session } = useApp();
  const form = useForm({
    initialValues: { password: '', newPassword: '', totp: '' },
    validate: { password: required('The password'), newPassword: passwordProblem },
  });
  const change = useApi().useMutation('post', '/auth/change-password', {
    onSuccess: () => session.end('passwordChanged'),
  });
  return (
    <SubmitForm
      form={form}
      request={change}
      sent={({ newPassword, ...credentials }) => ({ body: { ...credentialsOf(credentials), newPassword } })}
      failure="The password was not changed"
      messages={REFUSALS}
      submit="Change the password"
      beside={null}
    >
      <Credentials label="Current password" asksForCode={totpEnabled} inputProps={form.getInputProps} />
      <NewPassword label="New password" {...form.getInputProps('newPassword')} />
    </SubmitForm>
  );
};

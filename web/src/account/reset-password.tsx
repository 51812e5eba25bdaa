import { Alert, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useApi } from '../app.ts';
import { AnchorLink } from '../components/links.tsx';
import { Heading } from '../components/page.tsx';
import { emailProblem, passwordProblem, required } from '../forms/fields.ts';
import { SubmitForm } from '../forms/submit-form.tsx';
import { Intro, MailedCode, NewPassword } from './credentials.tsx';

export const ResetPassword = () => {
  const navigate = useNavigate();
  const { email = '' } = getRouteApi('/visitors/reset-password').useSearch();
  const form = useForm({
    initialValues: { email, code: '', newPassword: '' },
    validate: { email: emailProblem, code: required('The code'), newPassword: passwordProblem },
  });
  const reset = useApi().useMutation('post', '/auth/reset-password', {
    onSuccess: (_, { body }) => navigate({ to: '/sign-in', search: { reason: 'passwordChanged', email: body.email } }),
  });
  return (
    <SubmitForm
      form={form}
      request={reset}
      sent={(values) => ({ body: { ...values, code: values.code.trim() } })}
      failure="The password was not changed"
      submit="Change the password"
      intro={
        <>
          <Heading>Choose a new password</Heading>
          {email !== '' && !reset.isError && (
            <Alert role="status" color="teal">
              If {email} has an account, we have sent it a code.
            </Alert>
          )}
        </>
      }
      below={
        <AnchorLink to="/forgot-password" size="sm">
          Send another code
        </AnchorLink>
      }
    >
      <TextInput label="E-mail" type="email" autoComplete="username" {...form.getInputProps('email')} />
      <MailedCode {...form.getInputProps('code')} />
      <NewPassword label="New password" {...form.getInputProps('newPassword')} />
    </SubmitForm>
  );
};

export const ForgotPassword = () => {
  const navigate = useNavigate();
  const form = useForm({ initialValues: { email: '' }, validate: { email: emailProblem } });
  const send = useApi().useMutation('post', '/auth/forgot-password', {
    onSuccess: (_, { body }) => navigate({ to: '/reset-password', search: { email: body.email } }),
  });
  return (
    <SubmitForm
      form={form}
      request={send}
      sent={(body) => ({ body })}
      submit="Send the code"
      intro={<Intro title="Reset your password">We e-mail you a code. It works once, within an hour.</Intro>}
      below={
        <AnchorLink to="/sign-in" size="sm">
          Back to sign-in
        </AnchorLink>
      }
    >
      <TextInput label="E-mail" type="email" autoComplete="username" {...form.getInputProps('email')} />
    </SubmitForm>
  );
};

import { Alert, Button, PasswordInput, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useApi } from '../app.ts';
import { Heading } from '../components/heading.tsx';
import { AnchorLink } from '../components/links.tsx';
import { ProblemNote } from '../components/problem-note.tsx';
import { emailProblem, fieldErrors, PASSWORD_RULE, passwordProblem, required } from '../forms/fields.ts';

export const ResetPassword = () => {
  const navigate = useNavigate();
  const { email = '' } = getRouteApi('/visitors/reset-password').useSearch();
  const form = useForm({
    initialValues: { email, code: '', newPassword: '' },
    validate: { email: emailProblem, code: required('The code'), newPassword: passwordProblem },
  });
  const reset = useApi().useMutation('post', '/auth/reset-password', {
    onSuccess: (_, { body }) => navigate({ to: '/sign-in', search: { reason: 'passwordChanged', email: body.email } }),
    onError: (error) => form.setErrors(fieldErrors(error, 'email', 'code', 'newPassword')),
  });
  return (
    <form
      noValidate
      onSubmit={form.onSubmit((values) => reset.mutate({ body: { ...values, code: values.code.trim() } }))}
    >
      <Stack gap="md">
        <Heading>Choose a new password</Heading>
        {email !== '' && !reset.isError && (
          <Alert role="status" color="teal" variant="light">
            If {email} has an account, we have sent it a code.
          </Alert>
        )}
        {reset.isError && <ProblemNote error={reset.error} title="The password was not changed" />}
        <TextInput label="E-mail" type="email" autoComplete="username" {...form.getInputProps('email')} />
        <TextInput label="Code from the e-mail" autoComplete="one-time-code" {...form.getInputProps('code')} />
        <PasswordInput
          label="New password"
          description={PASSWORD_RULE}
          autoComplete="new-password"
          {...form.getInputProps('newPassword')}
        />
        <Button type="submit" loading={reset.isPending}>
          Change the password
        </Button>
        <AnchorLink to="/forgot-password" size="sm">
          Send another code
        </AnchorLink>
      </Stack>
    </form>
  );
};

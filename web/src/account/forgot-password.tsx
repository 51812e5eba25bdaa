import { Button, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useNavigate } from '@tanstack/react-router';
import { useApi } from '../app.ts';
import { Heading } from '../components/heading.tsx';
import { AnchorLink } from '../components/links.tsx';
import { ProblemNote } from '../components/problem-note.tsx';
import { emailProblem, fieldErrors } from '../forms/fields.ts';

export const ForgotPassword = () => {
  const navigate = useNavigate();
  const form = useForm({ initialValues: { email: '' }, validate: { email: emailProblem } });
  const send = useApi().useMutation('post', '/auth/forgot-password', {
    onError: (error) => form.setErrors(fieldErrors(error, ...Object.keys(form.values))),
    onSuccess: (_, { body }) => navigate({ to: '/reset-password', search: { email: body.email } }),
  });
  return (
    <form noValidate onSubmit={form.onSubmit((body) => send.mutate({ body }))}>
      <Stack gap="md">
        <div>
          <Heading>Reset your password</Heading>
          <Text size="sm" c="dimmed">
            We e-mail you a code. It works once, within an hour.
          </Text>
        </div>
        {send.isError && <ProblemNote error={send.error} />}
        <TextInput label="E-mail" type="email" autoComplete="username" {...form.getInputProps('email')} />
        <Button type="submit" loading={send.isPending}>
          Send the code
        </Button>
        <AnchorLink to="/sign-in" size="sm">
          Back to sign-in
        </AnchorLink>
      </Stack>
    </form>
  );
};

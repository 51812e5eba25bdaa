import { TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useNavigate } from '@tanstack/react-router';
import { useApi } from '../app.ts';
import { AnchorLink } from '../components/links.tsx';
import { emailProblem } from '../forms/fields.ts';
import { SubmitForm } from '../forms/submit-form.tsx';
import { Intro } from './credentials.tsx';

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

import { TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useRouter } from '@tanstack/react-router';
import { useApi, useApp } from '../app.ts';
import { AnchorLink } from '../components/links.tsx';
import { emailProblem, passwordProblem } from '../forms/fields.ts';
import { SubmitForm } from '../forms/submit-form.tsx';
import { Intro, NameFields, NewPassword, nameProblems } from './credentials.tsx';

export const SignUp = () => {
  const { session } = useApp();
  const router = useRouter();
  const form = useForm({
    initialValues: { firstName: '', lastName: '', companyName: '', email: '', password: '' },
    validate: { ...nameProblems, email: emailProblem, password: passwordProblem },
  });
  const register = useApi().useMutation('post', '/auth/register', {
    onSuccess: async (tokens) => {
      session.begin(tokens);
      await router.invalidate();
    },
  });
  return (
    <SubmitForm
      form={form}
      request={register}
      sent={({ companyName, ...needed }) => ({
        body: companyName.trim() === '' ? needed : { ...needed, companyName },
      })}
      failure="The account was not created"
      submit="Create account"
      intro={
        <Intro title="Create your account">
          Have one already?{' '}
          <AnchorLink to="/sign-in" underline="always">
            Sign in
          </AnchorLink>
        </Intro>
      }
    >
      <NameFields inputProps={form.getInputProps} />
      <TextInput label="Company (optional)" autoComplete="organization" {...form.getInputProps('companyName')} />
      <TextInput label="E-mail" type="email" autoComplete="username" {...form.getInputProps('email')} />
      <NewPassword label="Password" {...form.getInputProps('password')} />
    </SubmitForm>
  );
};

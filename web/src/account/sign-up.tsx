import { Button, PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useRouter } from '@tanstack/react-router';
import { useApi, useApp } from '../app.ts';
import { Heading } from '../components/heading.tsx';
import { AnchorLink } from '../components/links.tsx';
import { ProblemNote } from '../components/problem-note.tsx';
import { emailProblem, fieldErrors, PASSWORD_RULE, passwordProblem, required } from '../forms/fields.ts';
import classes from './sign-up.module.css';

export const SignUp = () => {
  const { session } = useApp();
  const router = useRouter();
  const form = useForm({
    initialValues: { firstName: '', lastName: '', companyName: '', email: '', password: '' },
    validate: {
      firstName: required('Your first name'),
      lastName: required('Your last name'),
      email: emailProblem,
      password: passwordProblem,
    },
  });
  const register = useApi().useMutation('post', '/auth/register', {
    onSuccess: async (tokens) => {
      session.begin(tokens);
      await router.invalidate();
    },
    onError: (error) => form.setErrors(fieldErrors(error, ...Object.keys(form.values))),
  });
  const submit = ({ companyName, ...needed }: typeof form.values) =>
    register.mutate({ body: companyName.trim() === '' ? needed : { ...needed, companyName } });
  return (
    <form noValidate onSubmit={form.onSubmit(submit)}>
      <Stack gap="md">
        <div>
          <Heading>Create your account</Heading>
          <Text size="sm" c="dimmed">
            Have one already?{' '}
            <AnchorLink to="/sign-in" underline="always">
              Sign in
            </AnchorLink>
          </Text>
        </div>
        {register.isError && <ProblemNote error={register.error} title="The account was not created" />}
        <div className={classes['names']}>
          <TextInput label="First name" autoComplete="given-name" {...form.getInputProps('firstName')} />
          <TextInput label="Last name" autoComplete="family-name" {...form.getInputProps('lastName')} />
        </div>
        <TextInput label="Company (optional)" autoComplete="organization" {...form.getInputProps('companyName')} />
        <TextInput label="E-mail" type="email" autoComplete="username" {...form.getInputProps('email')} />
        <PasswordInput
          label="Password"
          description={PASSWORD_RULE}
          autoComplete="new-password"
          {...form.getInputProps('password')}
        />
        <Button type="submit" loading={register.isPending}>
          Create account
        </Button>
      </Stack>
    </form>
  );
};

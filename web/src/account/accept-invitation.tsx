import { Button, PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useRouter } from '@tanstack/react-router';
import { useState } from 'react';
import { problemOf } from '../api/problem.ts';
import { useApi, useApp } from '../app.ts';
import { Heading } from '../components/heading.tsx';
import { ProblemNote } from '../components/problem-note.tsx';
import { fieldErrors, PASSWORD_RULE, passwordProblem, required } from '../forms/fields.ts';
import { CodeInput, credentialsOf, REFUSALS } from './credentials.tsx';
import classes from './sign-up.module.css';

/** Errors of the sign-in that follows the joining: the account asks for a second factor, or for single sign-on. */
const JOINED = new Set(['TOTP_SETUP_REQUIRED', 'FORBIDDEN']);

/** The page behind the link of an invitation. The token stays behind `#`: browsers send that part to no server. */
export const AcceptInvitation = () => {
  const { session } = useApp();
  const router = useRouter();
  const [token] = useState(() => window.location.hash.slice(1));
  const form = useForm({
    initialValues: { firstName: '', lastName: '', password: '', totp: '' },
    validate: {
      firstName: required('Your first name'),
      lastName: required('Your last name'),
      password: passwordProblem,
    },
  });
  const accept = useApi().useMutation('post', '/auth/accept-invitation', {
    onSuccess: async (tokens) => {
      session.begin(tokens);
      await router.navigate({ to: '/' });
    },
    onError: (error) =>
      JOINED.has(problemOf(error).code)
        ? router.navigate({ to: '/sign-in', search: { reason: 'joined' } })
        : form.setErrors(fieldErrors(error, ...Object.keys(form.values))),
  });
  const asksForCode = form.values.totp !== '' || (accept.isError && problemOf(accept.error).code === 'TOTP_REQUIRED');
  return (
    <form
      noValidate
      onSubmit={form.onSubmit(({ password, totp, ...names }) =>
        accept.mutate({ body: { token, ...names, ...credentialsOf({ password, totp }) } }),
      )}
    >
      <Stack gap="md">
        <div>
          <Heading>Accept the invitation</Heading>
          <Text size="sm" c="dimmed">
            If you have used this address here before, enter its password. Otherwise choose one.
          </Text>
        </div>
        {accept.isError && (
          <ProblemNote error={accept.error} title="The invitation was not accepted" messages={REFUSALS} />
        )}
        <div className={classes['names']}>
          <TextInput label="First name" autoComplete="given-name" {...form.getInputProps('firstName')} />
          <TextInput label="Last name" autoComplete="family-name" {...form.getInputProps('lastName')} />
        </div>
        <PasswordInput
          label="Password"
          description={PASSWORD_RULE}
          autoComplete="new-password"
          {...form.getInputProps('password')}
        />
        {asksForCode && <CodeInput {...form.getInputProps('totp')} />}
        <Button type="submit" loading={accept.isPending}>
          Join the account
        </Button>
      </Stack>
    </form>
  );
};

import { useForm } from '@mantine/form';
import { useRouter } from '@tanstack/react-router';
import { useState } from 'react';
import { problemOf } from '../api/problem.ts';
import { useApi, useApp } from '../app.ts';
import { passwordProblem } from '../forms/fields.ts';
import { SubmitForm } from '../forms/submit-form.tsx';
import { CodeInput, credentialsOf, Intro, NameFields, NewPassword, nameProblems, REFUSALS } from './credentials.tsx';

/** Errors of the sign-in that follows the joining: the account asks for a second factor, or for single sign-on. */
const JOINED = new Set(['TOTP_SETUP_REQUIRED', 'FORBIDDEN']);

/** The page behind the link of an invitation. The token stays behind `#`: browsers send that part to no server. */
export const AcceptInvitation = () => {
  const { session } = useApp();
  const router = useRouter();
  const [token] = useState(() => window.location.hash.slice(1));
  const form = useForm({
    initialValues: { firstName: '', lastName: '', password: '', totp: '' },
    validate: { ...nameProblems, password: passwordProblem },
  });
  const accept = useApi().useMutation('post', '/auth/accept-invitation', {
    onSuccess: async (tokens) => {
      session.begin(tokens);
      await router.navigate({ to: '/' });
    },
    onError: (error) =>
      JOINED.has(problemOf(error).code) ? router.navigate({ to: '/sign-in', search: { reason: 'joined' } }) : undefined,
  });
  const asksForCode = form.values.totp !== '' || (accept.isError && problemOf(accept.error).code === 'TOTP_REQUIRED');
  return (
    <SubmitForm
      form={form}
      request={accept}
      sent={({ password, totp, ...names }) => ({ body: { token, ...names, ...credentialsOf({ password, totp }) } })}
      failure="The invitation was not accepted"
      messages={REFUSALS}
      submit="Join the account"
      intro={
        <Intro title="Accept the invitation">
          If you have used this address here before, enter its password. Otherwise choose one.
        </Intro>
      }
    >
      <NameFields inputProps={form.getInputProps} />
      <NewPassword label="Password" {...form.getInputProps('password')} />
      {asksForCode && <CodeInput {...form.getInputProps('totp')} />}
    </SubmitForm>
  );
};

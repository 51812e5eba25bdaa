import { TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useLocation, useRouter } from '@tanstack/react-router';
import { lacksTotp, problemOf } from '../api/problem.ts';
import { useApi, useApp } from '../app.ts';
import { AnchorLink } from '../components/page.tsx';
import { emailProblem, passwordProblem } from '../forms/fields.ts';
import { SubmitForm } from '../forms/submit-form.tsx';
import { CodeInput, credentialsOf, Intro, NameFields, NewPassword, nameProblems } from './credentials.tsx';

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

/** Errors of the sign-in that follows the joining: the account asks for a second factor, or for single sign-on. */
const JOINED = new Set(['TOTP_SETUP_REQUIRED', 'FORBIDDEN']);

/** The page behind the link of an invitation. The token stays behind `#`: browsers send that part to no server. */
export const AcceptInvitation = () => {
  const { session } = useApp();
  const router = useRouter();
  const token = useLocation({ select: ({ hash }) => hash });
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
  const asksForCode = form.values.totp !== '' || lacksTotp(accept.error);
  if (token === '')
    return (
      <Intro title="Accept the invitation">
        This address is not complete: what follows the # is missing. Open the link in the mail again, or copy all of it.
      </Intro>
    );
  return (
    <SubmitForm
      form={form}
      request={accept}
      sent={({ password, totp, ...names }) => ({ body: { token, ...names, ...credentialsOf({ password, totp }) } })}
      failure="The invitation was not accepted"
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

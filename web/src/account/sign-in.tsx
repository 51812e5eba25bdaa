import { Alert, Button, PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import { getRouteApi, useNavigate, useRouter } from '@tanstack/react-router';
import { problemOf } from '../api/problem.ts';
import { useApi, useApp } from '../app.ts';
import { AnchorLink, Heading, ProblemNote } from '../components/page.tsx';
import { emailProblem, passwordProblem, required } from '../forms/fields.ts';
import { SubmitForm } from '../forms/submit-form.tsx';
import { CodeInput, credentialsOf, Intro, MailedCode, NewPassword } from './credentials.tsx';
import { SetUpTotp } from './set-up-totp.tsx';
import { beginSignOn, signOnError } from './sign-on.ts';

const NOTES = {
  expired: 'Your session has ended. Sign in to continue where you were.',
  signedOut: 'You are signed out, in every tab of this browser.',
  passwordChanged: 'Your password is changed. Sign in with the new one.',
  emailChanged: 'Your address is changed. Sign in with the new one.',
  joined: 'You are a member of the account now. Sign in to begin.',
} as const;

const NO_SIGN_ON = signOnError('Your address has no single sign-on here. Sign in with your password.');

const MESSAGES = {
  INVALID_CREDENTIALS: 'The e-mail address or the password is wrong.',
  FORBIDDEN: 'Your account requires single sign-on: choose it below.',
} as const;

export const SignIn = () => {
  const { api, session } = useApp();
  const router = useRouter();
  const { reason, email = '', next } = getRouteApi('/visitors/sign-in').useSearch();
  const form = useForm({
    initialValues: { email, password: '', totp: '' },
    validate: { email: emailProblem, password: required('The password') },
  });
  const logIn = useApi().useMutation('post', '/auth/login', {
    onSuccess: async (tokens) => {
      session.begin(tokens);
      // The guard of these pages knows where to go on.
      await router.invalidate();
    },
  });
  const signOn = useMutation({
    mutationFn: async (address: string) => {
      const { data, error } = await api.client.GET('/auth/sign-on', { params: { query: { email: address } } });
      if (data === undefined) throw error;
      if (data.authorizeUrl === null) throw NO_SIGN_ON;
      await beginSignOn(data.authorizeUrl, next);
    },
  });
  const beginWithAddress = () => {
    if (!form.validateField('email').hasError) signOn.mutate(form.values.email);
  };
  const refusal = logIn.isError ? problemOf(logIn.error).code : undefined;
  if (refusal === 'TOTP_SETUP_REQUIRED')
    return (
      <Stack gap="md">
        <Heading>Set up a second factor</Heading>
        <Text size="sm">Your account requires one of every member.</Text>
        <SetUpTotp {...form.values} onDone={() => logIn.reset()} />
      </Stack>
    );
  const asksForCode = refusal === 'TOTP_REQUIRED' || form.values.totp !== '';
  return (
    <SubmitForm
      form={form}
      request={logIn}
      sent={({ email: address, ...values }) => ({ body: { email: address, ...credentialsOf(values) } })}
      failure={asksForCode ? 'One more step' : 'Sign-in failed'}
      messages={MESSAGES}
      submit="Sign in"
      intro={
        <>
          <Intro title="Sign in">
            New here?{' '}
            <AnchorLink to="/sign-up" underline="always">
              Create an account
            </AnchorLink>
          </Intro>
          {reason && !logIn.isError && (
            <Alert role="status" color="teal">
              {NOTES[reason]}
            </Alert>
          )}
          {signOn.isError && <ProblemNote error={signOn.error} title="Single sign-on is not possible" />}
        </>
      }
      below={
        <>
          <Button variant="default" onClick={beginWithAddress} loading={signOn.isPending || signOn.isSuccess}>
            Single sign-on
          </Button>
          <AnchorLink to="/forgot-password" size="sm">
            Forgot your password?
          </AnchorLink>
        </>
      }
    >
      <TextInput label="E-mail" type="email" autoComplete="username" {...form.getInputProps('email')} />
      <PasswordInput label="Password" autoComplete="current-password" {...form.getInputProps('password')} />
      {asksForCode && <CodeInput autoFocus {...form.getInputProps('totp')} />}
    </SubmitForm>
  );
};

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

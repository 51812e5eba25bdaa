import {
  Button,
  Group,
  PasswordInput,
  type PasswordInputProps,
  Stack,
  Text,
  TextInput,
  type TextInputProps,
} from '@mantine/core';
import { useForm } from '@mantine/form';
import type { ComponentProps, ReactNode } from 'react';
import { problemOf } from '../api/problem.ts';
import { notifyDone, useApi } from '../app.ts';
import { Heading, ProblemNote } from '../components/page.tsx';
import { fieldErrors, PASSWORD_RULE, required } from '../forms/fields.ts';

export const Intro = ({ title, children }: { readonly title: string; readonly children: ReactNode }) => (
  <Stack gap={4}>
    <Heading>{title}</Heading>
    <Text size="sm" c="dimmed">
      {children}
    </Text>
  </Stack>
);

type InputProps<Name extends string> = (name: Name) => { readonly error?: ReactNode };

export const nameProblems = { firstName: required('Your first name'), lastName: required('Your last name') } as const;

export const NameFields = ({ inputProps }: { readonly inputProps: InputProps<'firstName' | 'lastName'> }) => (
  <Group grow align="flex-start">
    <TextInput label="First name" autoComplete="given-name" {...inputProps('firstName')} />
    <TextInput label="Last name" autoComplete="family-name" {...inputProps('lastName')} />
  </Group>
);

/** A page may have several: the button that shows what was typed is named by its field. */
export const Password = ({ label, ...props }: PasswordInputProps & { readonly label: string }) => (
  <PasswordInput
    label={label}
    visibilityToggleButtonProps={{ 'aria-label': `Show what is typed: ${label}` }}
    {...props}
  />
);

export const NewPassword = (props: ComponentProps<typeof Password>) => (
  <Password description={PASSWORD_RULE} autoComplete="new-password" {...props} />
);

export const MailedCode = (props: TextInputProps) => (
  <TextInput
    label="Code from the e-mail"
    placeholder="1234 5678"
    autoComplete="one-time-code"
    inputMode="numeric"
    {...props}
  />
);

export const CodeInput = (props: TextInputProps) => (
  <TextInput label="Code of the authenticator app" autoComplete="one-time-code" inputMode="numeric" {...props} />
);

interface CredentialsProps {
  readonly label: string;
  readonly asksForCode: boolean;
  readonly inputProps: InputProps<'password' | 'totp'>;
}

/** The password, and the code where the login has a second factor: asked for before a change of the login. */
export const Credentials = ({ label, asksForCode, inputProps }: CredentialsProps) => (
  <>
    <Password label={label} autoComplete="current-password" {...inputProps('password')} />
    {asksForCode && <CodeInput {...inputProps('totp')} />}
  </>
);

/** The credentials as the API takes them: without a second factor there is no code. */
export const credentialsOf = ({ password, totp }: { readonly password: string; readonly totp: string }) =>
  totp.trim() === '' ? { password } : { password, totp };

export const VerifyEmailForm = ({ address }: { readonly address: string }) => {
  const api = useApi();
  const form = useForm({ initialValues: { code: '' }, validate: { code: required('The code') } });
  const verify = api.useMutation('post', '/auth/verify-email', {
    meta: { done: 'Your e-mail address is verified.' },
    onError: (error) => form.setErrors(fieldErrors(error, form.values)),
  });
  const send = api.useMutation('post', '/auth/verification-codes', {
    onSuccess: ({ message }) => notifyDone(message),
  });
  return (
    <form noValidate onSubmit={form.onSubmit((body) => verify.mutate({ body }))}>
      {send.isError && <ProblemNote error={send.error} title="No code was sent" />}
      {verify.isError && problemOf(verify.error).details.length === 0 && (
        <ProblemNote error={verify.error} title="The address was not verified" />
      )}
      <Group gap="sm">
        <Text size="sm" flex="1 1 320px">
          <b>Verify {address}</b> with the code we have sent to it. Until then, alerts are not mailed to you.
        </Text>
        <MailedCode
          size="xs"
          flex="1 1 110px"
          maw={200}
          label=""
          aria-label="Code from the e-mail"
          {...form.getInputProps('code')}
        />
        <Button size="xs" type="submit" loading={verify.isPending}>
          Verify
        </Button>
        <Button size="xs" variant="subtle" loading={send.isPending} onClick={() => send.mutate({})}>
          Send another code
        </Button>
      </Group>
    </form>
  );
};

import {
  Group,
  PasswordInput,
  type PasswordInputProps,
  Stack,
  Text,
  TextInput,
  type TextInputProps,
} from '@mantine/core';
import type { ReactNode } from 'react';
import { Heading } from '../components/page.tsx';
import { PASSWORD_RULE, required } from '../forms/fields.ts';

/** Why the API refuses a password or a code of the second factor, for those who are signed in. */
export const REFUSALS = {
  INVALID_CREDENTIALS: 'The password is wrong.',
  TOTP_REQUIRED: 'Enter the code that your authenticator app shows now.',
} as const;

/** The title of a form, and a sentence about it. */
export const Intro = ({ title, children }: { readonly title: string; readonly children: ReactNode }) => (
  <Stack gap={4}>
    <Heading>{title}</Heading>
    <Text size="sm" c="dimmed">
      {children}
    </Text>
  </Stack>
);

/** The result of `getInputProps` of a form with some fields. */
type InputProps<Name extends string> = (name: Name) => { readonly error?: ReactNode };

export const nameProblems = { firstName: required('Your first name'), lastName: required('Your last name') } as const;

export const NameFields = ({ inputProps }: { readonly inputProps: InputProps<'firstName' | 'lastName'> }) => (
  <Group grow align="flex-start">
    <TextInput label="First name" autoComplete="given-name" {...inputProps('firstName')} />
    <TextInput label="Last name" autoComplete="family-name" {...inputProps('lastName')} />
  </Group>
);

export const NewPassword = (props: PasswordInputProps) => (
  <PasswordInput description={PASSWORD_RULE} autoComplete="new-password" {...props} />
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
    <PasswordInput label={label} autoComplete="current-password" {...inputProps('password')} />
    {asksForCode && <CodeInput {...inputProps('totp')} />}
  </>
);

/** The credentials as the API takes them: without a second factor there is no code. */
export const credentialsOf = ({ password, totp }: { readonly password: string; readonly totp: string }) =>
  totp.trim() === '' ? { password } : { password, totp };

import { PasswordInput, TextInput, type TextInputProps } from '@mantine/core';
import type { ReactNode } from 'react';

/** Why the API refuses a password or a code of the second factor, for those who are signed in. */
export const REFUSALS = {
  INVALID_CREDENTIALS: 'The password is wrong.',
  TOTP_REQUIRED: 'Enter the code that your authenticator app shows now.',
} as const;

export const CodeInput = (props: TextInputProps) => (
  <TextInput label="Code of the authenticator app" autoComplete="one-time-code" inputMode="numeric" {...props} />
);

/** The password, and the code where the login has a second factor: asked for before a change of the login. */
export const Credentials = ({
  label,
  asksForCode,
  inputProps,
}: {
  readonly label: string;
  readonly asksForCode: boolean;
  readonly inputProps: (name: 'password' | 'totp') => { readonly error?: ReactNode };
}) => (
  <>
    <PasswordInput label={label} autoComplete="current-password" {...inputProps('password')} />
    {asksForCode && <CodeInput {...inputProps('totp')} />}
  </>
);

/** The credentials as the API takes them: without a second factor there is no code. */
export const credentialsOf = ({ password, totp }: { readonly password: string; readonly totp: string }) =>
  totp.trim() === '' ? { password } : { password, totp };

import { PasswordInput, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';

/** Why the API refuses a password or a code of the second factor, for those who are signed in. */
export const REFUSALS = {
  INVALID_CREDENTIALS: 'The password is wrong.',
  TOTP_REQUIRED: 'The code is wrong. Enter the one that the app shows now.',
} as const;

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
    {asksForCode && (
      <TextInput
        label="Code of the authenticator app"
        autoComplete="one-time-code"
        inputMode="numeric"
        {...inputProps('totp')}
      />
    )}
  </>
);

/** The credentials as the API takes them: without a second factor there is no code. */
export const credentialsOf = ({ password, totp }: { readonly password: string; readonly totp: string }) =>
  totp.trim() === '' ? { password } : { password, totp };

import { useForm } from '@mantine/form';
import { problemOf } from '../api/problem.ts';
import type { components } from '../api/schema.d.ts';
import { useApi } from '../app.ts';
import { required } from '../forms/fields.ts';
import { SubmitForm } from '../forms/submit-form.tsx';
import { Credentials, credentialsOf, Intro, REFUSALS } from './credentials.tsx';

export type Tokens = components['schemas']['Session'];

interface ConnectLoginProps {
  readonly email: string;
  readonly linkToken: string;
  readonly onDone: (tokens: Tokens) => unknown;
}

/** Asks once for the password of the login that the address of a single sign-on has, and connects the two. */
export const ConnectLogin = ({ email, linkToken, onDone }: ConnectLoginProps) => {
  const form = useForm({
    initialValues: { password: '', totp: '' },
    validate: { password: required('The password') },
  });
  const link = useApi().useMutation('post', '/auth/sign-on/link', { onSuccess: onDone });
  const asksForCode = form.values.totp !== '' || (link.isError && problemOf(link.error).code === 'TOTP_REQUIRED');
  return (
    <SubmitForm
      form={form}
      request={link}
      sent={(values) => ({ body: { linkToken, ...credentialsOf(values) } })}
      failure="Your login is not connected yet"
      messages={REFUSALS}
      submit="Connect and sign in"
      intro={
        <Intro title="Connect your login">
          {email} has a login with a password already. Enter the password once: from then on single sign-on is enough.
        </Intro>
      }
    >
      <Credentials label="Password" asksForCode={asksForCode} inputProps={form.getInputProps} />
    </SubmitForm>
  );
};

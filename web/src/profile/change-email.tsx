import { Button, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { Credentials, credentialsOf, MailedCode, REFUSALS } from '../account/credentials.tsx';
import type { Me } from '../api/responses.ts';
import { useApi, useApp } from '../app.ts';
import { emailProblem, required } from '../forms/fields.ts';
import { SubmitForm } from '../forms/submit-form.tsx';

/** The code that the new address got. With it every session ends, so the next step is to sign in. */
const EnterCode = ({ email, onCancel }: { readonly email: string; readonly onCancel: () => void }) => {
  const { session } = useApp();
  const form = useForm({ initialValues: { code: '' }, validate: { code: required('The code') } });
  const verify = useApi().useMutation('post', '/auth/verify-email', { onSuccess: () => session.end('emailChanged') });
  return (
    <SubmitForm
      form={form}
      request={verify}
      sent={(body) => ({ body })}
      failure="The address was not changed"
      submit="Use this address"
      beside={
        <Button variant="default" onClick={onCancel}>
          Cancel
        </Button>
      }
      intro={
        <Text size="sm">
          We have sent a code to <strong>{email}</strong>. Until you enter it here, your address stays as it is.
        </Text>
      }
    >
      <MailedCode {...form.getInputProps('code')} />
    </SubmitForm>
  );
};

export const ChangeEmail = ({ user: { email: current, totpEnabled } }: { readonly user: Me['user'] }) => {
  const form = useForm({
    initialValues: { email: '', password: '', totp: '' },
    validate: { email: emailProblem, password: required('The password') },
  });
  const change = useApi().useMutation('post', '/auth/change-email');
  if (change.isSuccess) return <EnterCode email={change.variables.body.email} onCancel={change.reset} />;
  return (
    <SubmitForm
      form={form}
      request={change}
      sent={({ email, ...credentials }) => ({ body: { email, ...credentialsOf(credentials) } })}
      failure="No code was sent"
      messages={REFUSALS}
      submit="Send a code to it"
      beside={null}
      intro={
        <Text size="sm">
          Your address is <strong>{current}</strong>.
        </Text>
      }
    >
      <TextInput label="New address" type="email" autoComplete="email" {...form.getInputProps('email')} />
      <Credentials label="Your password" asksForCode={totpEnabled} inputProps={form.getInputProps} />
    </SubmitForm>
  );
};

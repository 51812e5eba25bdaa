import { Skeleton, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import {
  Credentials,
  credentialsOf,
  MailedCode,
  NameFields,
  NewPassword,
  nameProblems,
} from '../account/credentials.tsx';
import { SetUpTotp } from '../account/set-up-totp.tsx';
import type { Me } from '../api/responses.ts';
import { notifyDone, useApi, useApp, useMe } from '../app.ts';
import { Cancel } from '../components/buttons.tsx';
import { Page, Section } from '../components/page.tsx';
import { emailProblem, passwordProblem, required } from '../forms/fields.ts';
import { nextStep, SubmitForm } from '../forms/submit-form.tsx';
import { roleTexts } from '../members/roles.ts';

const SecondFactor = ({ user: { email, totpEnabled } }: { readonly user: Me['user'] }) => {
  const [password, setPassword] = useState<string>();
  const form = useForm({
    initialValues: { password: '', totp: '' },
    validate: { password: required('The password') },
  });
  const finish = (message: string) => {
    setPassword(undefined);
    form.reset();
    notifyDone(message);
  };
  const remove = useApi().useMutation('post', '/auth/totp/remove', {
    onSuccess: () => finish('The second factor is off.'),
  });
  const begin = nextStep((sent: { readonly body: typeof form.values }) => setPassword(sent.body.password));
  if (password !== undefined)
    return <SetUpTotp email={email} password={password} onDone={() => finish('The second factor is on.')} />;
  return (
    <SubmitForm
      form={form}
      request={totpEnabled ? remove : begin}
      sent={(values) => ({ body: { email, ...values } })}
      failure="It is still on"
      submit={totpEnabled ? 'Turn it off' : 'Set it up'}
      color={totpEnabled ? 'red' : undefined}
      otherButtons={null}
      intro={
        <Text size="sm">
          {totpEnabled
            ? 'It is on: log-ins need a code of your authenticator app.'
            : 'It is off. With it, a password alone lets nobody in.'}
        </Text>
      }
    >
      <Credentials label="Password" asksForCode={totpEnabled} inputProps={form.getInputProps} />
    </SubmitForm>
  );
};

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
      otherButtons={<Cancel onClick={onCancel} />}
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

const ChangeEmail = ({ user: { email: current, totpEnabled } }: { readonly user: Me['user'] }) => {
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
      submit="Send a code to it"
      otherButtons={null}
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

const ChangePassword = ({ user: { totpEnabled } }: { readonly user: Me['user'] }) => {
  const { session } = useApp();
  const form = useForm({
    initialValues: { password: '', newPassword: '', totp: '' },
    validate: { password: required('The password'), newPassword: passwordProblem },
  });
  const change = useApi().useMutation('post', '/auth/change-password', {
    onSuccess: () => session.end('passwordChanged'),
  });
  return (
    <SubmitForm
      form={form}
      request={change}
      sent={({ newPassword, ...credentials }) => ({ body: { ...credentialsOf(credentials), newPassword } })}
      failure="The password was not changed"
      submit="Change the password"
      otherButtons={null}
    >
      <Credentials label="Current password" asksForCode={totpEnabled} inputProps={form.getInputProps} />
      <NewPassword label="New password" {...form.getInputProps('newPassword')} />
    </SubmitForm>
  );
};

const ChangeName = ({ user: { firstName, lastName } }: { readonly user: Me['user'] }) => {
  const form = useForm({ initialValues: { firstName, lastName }, validate: nameProblems });
  const change = useApi().useMutation('patch', '/auth/me', {
    onSuccess: () => form.resetDirty(),
    meta: { done: 'Your name is changed.' },
  });
  return (
    <SubmitForm
      form={form}
      request={change}
      sent={(body) => ({ body })}
      failure="Your name was not changed"
      submit="Save the name"
      disabled={!form.isDirty()}
      otherButtons={null}
    >
      <NameFields inputProps={form.getInputProps} />
    </SubmitForm>
  );
};

export const Profile = () => {
  const { me, query } = useMe();
  return (
    <Page title="Your profile" about={me && `Your role is ${me.user.role}: ${roleTexts[me.user.role].toLowerCase()}.`}>
      {me ? (
        <>
          <Section title="Name">
            <ChangeName user={me.user} />
          </Section>
          <Section title="E-mail address" about="You sign in with it, and alerts go there.">
            <ChangeEmail user={me.user} />
          </Section>
          <Section title="Password" about="Every session ends, this one too.">
            <ChangePassword user={me.user} />
          </Section>
          <Section title="Second factor" about="A code of an authenticator app as well as the password.">
            <SecondFactor user={me.user} />
          </Section>
        </>
      ) : (
        !query.error && <Skeleton height={420} radius="lg" />
      )}
    </Page>
  );
};

import { Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { Credentials, credentialsOf, REFUSALS } from '../account/credentials.tsx';
import type { Me } from '../api/responses.ts';
import { useApi, useApp } from '../app.ts';
import { ProblemNote } from '../components/problem-note.tsx';
import { emailProblem, fieldErrors, required } from '../forms/fields.ts';

/** The code that the new address got. With it every session ends, so the next step is to sign in. */
const EnterCode = ({ email, onCancel }: { readonly email: string; readonly onCancel: () => void }) => {
  const { session } = useApp();
  const form = useForm({ initialValues: { code: '' }, validate: { code: required('The code') } });
  const verify = useApi().useMutation('post', '/auth/verify-email', {
    onSuccess: () => session.end('emailChanged'),
    onError: (error) => form.setErrors(fieldErrors(error, 'code')),
  });
  return (
    <form noValidate onSubmit={form.onSubmit((body) => verify.mutate({ body }))}>
      <Stack>
        <Text size="sm">
          We have sent a code to <strong>{email}</strong>. Until you enter it here, your address stays as it is.
        </Text>
        {verify.isError && <ProblemNote error={verify.error} title="The address was not changed" />}
        <TextInput
          label="Code from the e-mail"
          placeholder="1234 5678"
          autoComplete="one-time-code"
          inputMode="numeric"
          {...form.getInputProps('code')}
        />
        <Group>
          <Button type="submit" loading={verify.isPending}>
            Use this address
          </Button>
          <Button variant="default" onClick={onCancel}>
            Cancel
          </Button>
        </Group>
      </Stack>
    </form>
  );
};

export const ChangeEmail = ({ user: { email: current, totpEnabled } }: { readonly user: Me['user'] }) => {
  const form = useForm({
    initialValues: { email: '', password: '', totp: '' },
    validate: { email: emailProblem, password: required('The password') },
  });
  const change = useApi().useMutation('post', '/auth/change-email', {
    onError: (error) => form.setErrors(fieldErrors(error, 'email', 'password', 'totp')),
  });
  if (change.isSuccess) return <EnterCode email={change.variables.body.email} onCancel={change.reset} />;
  return (
    <form
      noValidate
      onSubmit={form.onSubmit(({ email, ...credentials }) =>
        change.mutate({ body: { email, ...credentialsOf(credentials) } }),
      )}
    >
      <Stack>
        <Text size="sm">
          Your address is <strong>{current}</strong>.
        </Text>
        {change.isError && <ProblemNote error={change.error} title="No code was sent" messages={REFUSALS} />}
        <TextInput label="New address" type="email" autoComplete="email" {...form.getInputProps('email')} />
        <Credentials label="Your password" asksForCode={totpEnabled} inputProps={form.getInputProps} />
        <Group>
          <Button type="submit" loading={change.isPending}>
            Send a code to it
          </Button>
        </Group>
      </Stack>
    </form>
  );
};

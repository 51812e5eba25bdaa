import { Button, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { problemOf } from '../api/problem.ts';
import type { components } from '../api/schema.d.ts';
import { useApi } from '../app.ts';
import { Heading } from '../components/heading.tsx';
import { ProblemNote } from '../components/problem-note.tsx';
import { fieldErrors, required } from '../forms/fields.ts';
import { Credentials, credentialsOf, REFUSALS } from './credentials.tsx';

export type Tokens = components['schemas']['Session'];

/** Asks once for the password of the login that the address of a single sign-on has, and connects the two. */
export const ConnectLogin = ({
  email,
  linkToken,
  onDone,
}: {
  readonly email: string;
  readonly linkToken: string;
  readonly onDone: (tokens: Tokens) => unknown;
}) => {
  const form = useForm({
    initialValues: { password: '', totp: '' },
    validate: { password: required('The password') },
  });
  const link = useApi().useMutation('post', '/auth/sign-on/link', {
    onError: (error) => form.setErrors(fieldErrors(error, ...Object.keys(form.values))),
    onSuccess: onDone,
  });
  const asksForCode = form.values.totp !== '' || (link.isError && problemOf(link.error).code === 'TOTP_REQUIRED');
  return (
    <form
      noValidate
      onSubmit={form.onSubmit((values) => link.mutate({ body: { linkToken, ...credentialsOf(values) } }))}
    >
      <Stack gap="md">
        <div>
          <Heading>Connect your login</Heading>
          <Text size="sm" c="dimmed">
            {email} has a login with a password already. Enter the password once: from then on single sign-on is enough.
          </Text>
        </div>
        {link.isError && <ProblemNote error={link.error} title="Your login is not connected yet" messages={REFUSALS} />}
        <Credentials label="Password" asksForCode={asksForCode} inputProps={form.getInputProps} />
        <Button type="submit" loading={link.isPending}>
          Connect and sign in
        </Button>
      </Stack>
    </form>
  );
};

import { Button, PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useApi } from '../app.ts';
import { Heading } from '../components/heading.tsx';
import { notifyDone } from '../components/notify.ts';
import { ProblemNote } from '../components/problem-note.tsx';
import { required } from './fields.ts';
import { SetUpTotp } from './set-up-totp.tsx';

const REFUSALS = {
  INVALID_CREDENTIALS: 'The password is wrong.',
  TOTP_REQUIRED: 'The code is wrong. Enter the one that the app shows now.',
} as const;

/** Turns the second factor on or off, with the password. */
export const SecondFactor = () => {
  const api = useApi();
  const queryClient = useQueryClient();
  const { data } = api.useQuery('get', '/auth/me', {}, { staleTime: Number.POSITIVE_INFINITY });
  const [password, setPassword] = useState<string>();
  const form = useForm({
    initialValues: { password: '', totp: '' },
    validate: { password: required('The password') },
  });
  const finish = async (message: string) => {
    setPassword(undefined);
    form.reset();
    notifyDone(message);
    await queryClient.invalidateQueries({ queryKey: ['get', '/auth/me'] });
  };
  const remove = api.useMutation('post', '/auth/totp/remove', {
    onSuccess: () => finish('The second factor is off.'),
  });
  if (!data) return null;
  const { email, totpEnabled } = data.user;
  if (password !== undefined)
    return (
      <SetUpTotp
        email={email}
        password={password}
        why="Log-ins will need a code as well as the password."
        onDone={() => void finish('The second factor is on.')}
      />
    );
  return (
    <form
      noValidate
      onSubmit={form.onSubmit((values) =>
        totpEnabled ? remove.mutate({ body: { email, ...values } }) : setPassword(values.password),
      )}
    >
      <Stack gap="md" maw={480}>
        <Heading>Second factor</Heading>
        <Text size="sm">
          {totpEnabled
            ? 'It is on: log-ins need a code of your authenticator app.'
            : 'It is off. With it, a password alone lets nobody in.'}
        </Text>
        {remove.isError && <ProblemNote error={remove.error} title="It is still on" messages={REFUSALS} />}
        <PasswordInput label="Password" autoComplete="current-password" {...form.getInputProps('password')} />
        {totpEnabled && (
          <TextInput
            label="Code of the authenticator app"
            autoComplete="one-time-code"
            inputMode="numeric"
            {...form.getInputProps('totp')}
          />
        )}
        <Button type="submit" loading={remove.isPending} color={totpEnabled ? 'red' : undefined}>
          {totpEnabled ? 'Turn it off' : 'Set it up'}
        </Button>
      </Stack>
    </form>
  );
};

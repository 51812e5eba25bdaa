import { Button, Group, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { Credentials, REFUSALS } from '../account/credentials.tsx';
import { SetUpTotp } from '../account/set-up-totp.tsx';
import type { Me } from '../api/responses.ts';
import { useApi } from '../app.ts';
import { notifyDone } from '../components/notify.ts';
import { ProblemNote } from '../components/problem-note.tsx';
import { fieldErrors, required } from '../forms/fields.ts';

/** Turns the second factor on or off, with the password. */
export const SecondFactor = ({ user: { email, totpEnabled } }: { readonly user: Me['user'] }) => {
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
    onError: (error) => form.setErrors(fieldErrors(error, ...Object.keys(form.values))),
    onSuccess: () => finish('The second factor is off.'),
  });
  if (password !== undefined)
    return <SetUpTotp email={email} password={password} onDone={() => finish('The second factor is on.')} />;
  return (
    <form
      noValidate
      onSubmit={form.onSubmit((values) =>
        totpEnabled ? remove.mutate({ body: { email, ...values } }) : setPassword(values.password),
      )}
    >
      <Stack>
        <Text size="sm">
          {totpEnabled
            ? 'It is on: log-ins need a code of your authenticator app.'
            : 'It is off. With it, a password alone lets nobody in.'}
        </Text>
        {remove.isError && <ProblemNote error={remove.error} title="It is still on" messages={REFUSALS} />}
        <Credentials label="Password" asksForCode={totpEnabled} inputProps={form.getInputProps} />
        <Group>
          <Button type="submit" loading={remove.isPending} {...(totpEnabled && { color: 'red' })}>
            {totpEnabled ? 'Turn it off' : 'Set it up'}
          </Button>
        </Group>
      </Stack>
    </form>
  );
};

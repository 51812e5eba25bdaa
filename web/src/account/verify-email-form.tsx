import { Button, Group, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { problemOf } from '../api/problem.ts';
import { useApi } from '../app.ts';
import { ProblemNote } from '../components/page.tsx';
import { fieldErrors, required } from '../forms/fields.ts';
import { notifyDone } from '../notify.ts';
import { MailedCode } from './credentials.tsx';

/** Asks for the code from the mail that verifies the address. */
const VerifyEmailForm = ({ address }: { readonly address: string }) => {
  const api = useApi();
  const form = useForm({ initialValues: { code: '' }, validate: { code: required('The code') } });
  const verify = api.useMutation('post', '/auth/verify-email', {
    meta: { done: 'Your e-mail address is verified.' },
    onError: (error) => form.setErrors(fieldErrors(error, 'code')),
  });
  const send = api.useMutation('post', '/auth/verification-codes', {
    onSuccess: ({ message }) => notifyDone(message),
  });
  return (
    <form noValidate onSubmit={form.onSubmit((body) => verify.mutate({ body }))}>
      {send.isError && <ProblemNote error={send.error} title="No code was sent" />}
      {verify.isError && problemOf(verify.error).details.length === 0 && (
        <ProblemNote error={verify.error} title="The address was not verified" />
      )}
      <Group gap="sm">
        <Text size="sm" flex="1 1 320px">
          <b>Verify {address}</b> with the code we have sent to it. Until then, alerts are not mailed to you.
        </Text>
        <MailedCode
          size="xs"
          flex="1 1 110px"
          maw={200}
          label=""
          aria-label="Code from the e-mail"
          {...form.getInputProps('code')}
        />
        <Button size="xs" type="submit" loading={verify.isPending}>
          Verify
        </Button>
        <Button size="xs" variant="subtle" loading={send.isPending} onClick={() => send.mutate({})}>
          Send another code
        </Button>
      </Group>
    </form>
  );
};

export default VerifyEmailForm;

import { Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useEffect } from 'react';
import { encode } from 'uqr';
import { useApi } from '../app.ts';
import { CopyToClipboard } from '../components/copy.tsx';
import { ProblemNote } from '../components/page.tsx';
import { required } from '../forms/fields.ts';
import { SubmitForm } from '../forms/submit-form.tsx';
import { CodeInput } from './credentials.tsx';

/** White around it, as scanners want. */
const QrCode = ({ text }: { readonly text: string }) => {
  const { data, size } = encode(text, { border: 2 });
  const path = data.flatMap((row, y) => row.flatMap((dark, x) => (dark ? [`M${x} ${y}h1v1h-1z`] : []))).join('');
  return (
    <svg viewBox={`0 0 ${size} ${size}`} width={200} height={200} role="img" aria-label="QR code of the secret">
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  );
};

interface SetUpTotpProps {
  readonly email: string;
  readonly password: string;
  readonly onDone: () => void;
}

/** Shows a new secret, and turns the second factor on with the first code. */
export const SetUpTotp = ({ email, password, onDone }: SetUpTotpProps) => {
  const api = useApi();
  const form = useForm({ initialValues: { totp: '' }, validate: { totp: required('The code') } });
  const begin = api.useMutation('post', '/auth/totp');
  const confirm = api.useMutation('post', '/auth/totp/confirm', { onSuccess: onDone });
  const { mutate } = begin;
  useEffect(() => mutate({ body: { email, password } }), [mutate, email, password]);
  return (
    <SubmitForm
      form={form}
      request={confirm}
      sent={({ totp }) => ({ body: { email, password, totp: totp.replaceAll(' ', '') } })}
      failure="The second factor is not on yet"
      submit="Turn it on"
      disabled={!begin.data}
    >
      <Text size="sm">
        Scan this with an authenticator app, or enter the secret there. Then enter the code that it shows.
      </Text>
      {begin.isError && <ProblemNote error={begin.error} title="No secret was made" />}
      {begin.data && (
        <>
          <QrCode text={begin.data.uri} />
          <Text size="sm" className="mono">
            {begin.data.secret} <CopyToClipboard value={begin.data.secret} label="Copy the secret" />
          </Text>
        </>
      )}
      <CodeInput {...form.getInputProps('totp')} />
    </SubmitForm>
  );
};

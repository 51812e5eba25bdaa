import { Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useEffect } from 'react';
import { renderSVG } from 'uqr';
import { useApi } from '../app.ts';
import { CopyToClipboard } from '../components/copy.tsx';
import { ProblemNote } from '../components/page.tsx';
import { required } from '../forms/fields.ts';
import { SubmitForm } from '../forms/submit-form.tsx';
import { CodeInput } from './credentials.tsx';

/** White of four modules around it, as ISO/IEC 18004 demands. */
const qrCodeOf = (text: string) => `data:image/svg+xml,${encodeURIComponent(renderSVG(text, { border: 4 }))}`;

interface SetUpTotpProps {
  readonly email: string;
  readonly password: string;
  readonly onDone: () => void;
}

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
          <img src={qrCodeOf(begin.data.uri)} width={200} height={200} alt="QR code of the secret" />
          <Text size="sm" className="mono">
            {begin.data.secret} <CopyToClipboard value={begin.data.secret} label="Copy the secret" />
          </Text>
        </>
      )}
      <CodeInput {...form.getInputProps('totp')} />
    </SubmitForm>
  );
};

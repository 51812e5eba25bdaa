import { PasswordInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { BilledProvider } from '../../../lambda/domain/reconciliation/billed-providers.ts';
import { useApi } from '../app.ts';
import { notifyDone } from '../components/notify.ts';
import { required } from '../forms/fields.ts';
import { SubmitForm } from '../forms/submit-form.tsx';
import { providerName } from '../providers/names.ts';

const credentials: Readonly<Record<BilledProvider, string>> = {
  openai: 'An admin key with the scope api.usage.read.',
  anthropic: 'An admin key of the organization.',
  openrouter: 'A management key.',
};

interface ConnectBillProps {
  readonly provider: BilledProvider;
  readonly onClose: () => void;
}

/** Asks for a credential that reads costs. The API tries it before storing it, and never returns it. */
export const ConnectBill = ({ provider, onClose }: ConnectBillProps) => {
  const form = useForm({ initialValues: { credential: '' }, validate: { credential: required('A credential') } });
  const connect = useApi().useMutation('put', '/bill-connections/{provider}', {
    onSuccess: () => {
      notifyDone(`${providerName(provider)} responded. Its bill of the last 92 days is read within minutes.`);
      onClose();
    },
  });
  return (
    <SubmitForm
      form={form}
      request={connect}
      sent={({ credential }) => ({ params: { path: { provider } }, body: { credential: credential.trim() } })}
      failure="The bill was not connected"
      submit="Try and save"
    >
      <PasswordInput
        label="Credential"
        description={`${credentials[provider]} Give it the right to read costs, and nothing else.`}
        autoComplete="off"
        data-autofocus
        {...form.getInputProps('credential')}
      />
      <p className="dim small">
        It is tried now, then stored in Secrets Manager. Nobody sees it again; you can replace or remove it.
      </p>
    </SubmitForm>
  );
};

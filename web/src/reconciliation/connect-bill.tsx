import { Button, PasswordInput, Stack } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQueryClient } from '@tanstack/react-query';
import type { BilledProvider } from '../../../lambda/domain/reconciliation/billed-providers.ts';
import { useApi } from '../app.ts';
import { notifyDone } from '../components/notify.ts';
import { ProblemNote } from '../components/problem-note.tsx';
import { fieldErrors, required } from '../forms/fields.ts';
import { providerName } from '../providers/names.ts';

const credentials: Readonly<Record<BilledProvider, string>> = {
  openai: 'An admin key with the scope api.usage.read.',
  anthropic: 'An admin key of the organization.',
  openrouter: 'A management key.',
};

export const useReloadBills = () => {
  const queryClient = useQueryClient();
  return () =>
    queryClient.invalidateQueries({
      predicate: ({ queryKey }) => /bill|reconciliation/.test(String(queryKey[1])),
    });
};

/** Asks for a credential that reads costs. The API tries it before it keeps it, and never returns it. */
export const ConnectBill = ({
  provider,
  onClose,
}: {
  readonly provider: BilledProvider;
  readonly onClose: () => void;
}) => {
  const reload = useReloadBills();
  const form = useForm({ initialValues: { credential: '' }, validate: { credential: required('A credential') } });
  const connect = useApi().useMutation('put', '/bill-connections/{provider}', {
    onSuccess: () => {
      notifyDone(`${providerName(provider)} responded. Its bill of the last 92 days is read within minutes.`);
      onClose();
    },
    onError: (error) => form.setErrors(fieldErrors(error, 'credential')),
    onSettled: () => reload(),
  });
  return (
    <form
      noValidate
      onSubmit={form.onSubmit(({ credential }) =>
        connect.mutate({ params: { path: { provider } }, body: { credential: credential.trim() } }),
      )}
    >
      <Stack>
        <PasswordInput
          label="Credential"
          description={`${credentials[provider]} Give it the right to read costs, and nothing else.`}
          autoComplete="off"
          data-autofocus
          {...form.getInputProps('credential')}
        />
        <p className="dim small">
          It is tried now, then kept in Secrets Manager. Nobody sees it again; you can replace or remove it.
        </p>
        {connect.isError && !form.errors['credential'] && (
          <ProblemNote error={connect.error} title="The bill was not connected" />
        )}
        <Button type="submit" loading={connect.isPending}>
          Try and save
        </Button>
      </Stack>
    </form>
  );
};

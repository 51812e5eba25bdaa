import { Button, Code, Group, NativeSelect, Stack, Textarea } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useRef } from 'react';
import type { ProviderLabel } from '../../../lambda/domain/providers.ts';
import { useApi } from '../app.ts';
import { notifyDone } from '../components/notify.ts';
import { ProblemNote } from '../components/problem-note.tsx';
import { plural } from '../format/quantity.ts';
import { fieldErrors, required } from '../forms/fields.ts';
import { providerChoices, providerName } from '../providers/names.ts';
import { useReloadBills } from './connect-bill.tsx';

/** An invoice as CSV: chosen as a file, or pasted. */
export const ImportBill = ({
  provider,
  onImported,
}: {
  readonly provider: ProviderLabel;
  readonly onImported: (provider: ProviderLabel, days: readonly string[]) => void;
}) => {
  const reload = useReloadBills();
  const file = useRef<HTMLInputElement>(null);
  const form = useForm({
    initialValues: { provider, csv: '' },
    validate: { csv: required('A file or text') },
  });
  const load = useApi().useMutation('put', '/bills/{provider}', {
    onSuccess: ({ days, lines }, { params }) => {
      notifyDone(
        `${plural(lines, 'line')} of ${plural(days.length, 'day')} stored for ${providerName(params.path.provider)}.`,
      );
      onImported(params.path.provider, days);
    },
    onError: (error) => form.setErrors(fieldErrors(error, 'csv')),
    onSettled: () => reload(),
  });
  return (
    <form
      noValidate
      onSubmit={form.onSubmit(({ provider: of, csv }) =>
        load.mutate({ params: { path: { provider: of } }, body: { csv } }),
      )}
    >
      <Stack>
        <NativeSelect label="Provider" data={providerChoices} {...form.getInputProps('provider')} />
        <p className="dim small">
          Columns: <Code>day</Code> (2026-11-20, UTC), <Code>amount</Code> (USD, below 0 for a credit), and where the
          invoice has them <Code>item</Code>, <Code>model</Code> and <Code>scope</Code>. A day that the file names is
          replaced as a whole.
        </p>
        <Textarea
          label="CSV"
          placeholder={'day,amount,model\n2026-11-20,12.34,gpt-4o'}
          autosize
          minRows={5}
          maxRows={14}
          {...form.getInputProps('csv')}
        />
        <input
          ref={file}
          type="file"
          accept=".csv,text/csv"
          hidden
          onChange={async ({ currentTarget: { files } }) => {
            const [chosen] = files ?? [];
            if (chosen) form.setFieldValue('csv', await chosen.text());
          }}
        />
        {load.isError && !form.errors['csv'] && <ProblemNote error={load.error} title="Nothing was imported" />}
        <Group>
          <Button type="submit" loading={load.isPending}>
            Import
          </Button>
          <Button variant="default" onClick={() => file.current?.click()}>
            Choose a file
          </Button>
        </Group>
      </Stack>
    </form>
  );
};

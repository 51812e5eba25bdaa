import { Button, Code, NativeSelect, Textarea } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useRef } from 'react';
import type { ProviderLabel } from '../../../lambda/domain/providers.ts';
import { useApi } from '../app.ts';
import { plural } from '../format/quantity.ts';
import { required } from '../forms/fields.ts';
import { SubmitForm } from '../forms/submit-form.tsx';
import { notifyDone } from '../notify.ts';
import { providerChoices, providerName } from '../providers/names.ts';

interface ImportBillProps {
  readonly provider: ProviderLabel;
  readonly onImported: (provider: ProviderLabel, days: readonly string[]) => void;
}

/** An invoice as CSV: chosen as a file, or pasted. */
export const ImportBill = ({ provider, onImported }: ImportBillProps) => {
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
  });
  return (
    <SubmitForm
      form={form}
      request={load}
      sent={({ provider: of, csv }) => ({ params: { path: { provider: of } }, body: { csv } })}
      failure="Nothing was imported"
      submit="Import"
      otherButtons={
        <Button variant="default" onClick={() => file.current?.click()}>
          Choose a file
        </Button>
      }
    >
      <NativeSelect label="Provider" data={providerChoices} {...form.getInputProps('provider')} />
      <p className="dim small">
        Columns: <Code>day</Code> (2026-11-20, UTC), <Code>amount</Code> (USD, below 0 for a credit), and where the
        invoice has them <Code>item</Code> and <Code>model</Code>. A day that the file names is replaced as a whole.
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
    </SubmitForm>
  );
};

import { Button, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQueryClient } from '@tanstack/react-query';
import type { DisplayCurrency } from '../api/responses.ts';
import { useApi, useMe } from '../app.ts';
import { Section } from '../components/page.tsx';
import { utcDate } from '../format/time.ts';
import { RowsField } from '../forms/rows-field.tsx';
import { SubmitForm } from '../forms/submit-form.tsx';
import { notifyDone } from '../notify.ts';

const problems = {
  code: (code: string) => (/^[A-Z]{3}$/.test(code) ? null : 'Three capital letters, such as EUR.'),
  rates: {
    from: (from: string) => (from === '' ? 'A day.' : null),
    perUsd: (perUsd: string) =>
      /^\d{1,9}(\.\d{1,9})?$/.test(perUsd) && Number(perUsd) > 0 ? null : 'A number, such as 0.9234.',
  },
};

/** The currency that costs are shown in next to US dollars, with its rates. */
export const CurrencySection = ({ currency }: { readonly currency: DisplayCurrency | null }) => {
  const { may } = useMe();
  const queryClient = useQueryClient();
  const form = useForm<DisplayCurrency>({
    initialValues: currency ?? { code: '', rates: [{ from: `${utcDate(new Date()).slice(0, 7)}-01`, perUsd: '' }] },
    validate: problems,
  });
  const set = useApi().useMutation('put', '/prices/currency', {
    onSuccess: ({ currency: saved }) => {
      notifyDone(saved ? `Costs are shown in ${saved.code}, too.` : 'Costs are shown in US dollars.');
      // All figures have it.
      return queryClient.invalidateQueries();
    },
  });
  if (!may('prices:write')) return null;
  return (
    <Section
      title="Display currency"
      about="Costs are recorded in US dollars, and shown in this currency, too: each day at the rate of that day."
    >
      <SubmitForm
        form={form}
        request={set}
        sent={({ code, rates }) => ({
          body: { currency: { code, rates: rates.toSorted((a, b) => (a.from < b.from ? -1 : 1)) } },
        })}
        failure="The currency was not saved"
        submit="Save"
        otherButtons={
          currency && (
            <Button variant="default" onClick={() => set.mutate({ body: { currency: null } })}>
              US dollars only
            </Button>
          )
        }
      >
        <TextInput label="Currency" placeholder="EUR" maxLength={3} {...form.getInputProps('code')} />
        <RowsField form={form} list="rates" row="rate" newRow={{ from: utcDate(new Date()), perUsd: '' }}>
          {(index) => (
            <>
              <TextInput type="date" label="From day (UTC)" flex={1} {...form.getInputProps(`rates.${index}.from`)} />
              <TextInput
                label="For 1 US dollar"
                placeholder="0.9234"
                inputMode="decimal"
                flex={1}
                {...form.getInputProps(`rates.${index}.perUsd`)}
              />
            </>
          )}
        </RowsField>
      </SubmitForm>
    </Section>
  );
};

import { Checkbox, Group, NativeSelect, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { OwnPrice } from '../api/responses.ts';
import { Money } from '../components/amount.tsx';
import { plural } from '../format/quantity.ts';
import { utcDate, utcDayText } from '../format/time.ts';
import { EditorForm } from '../forms/editor.tsx';
import { choicesOf } from '../forms/fields.ts';
import { spendFiltersOf } from '../scope/scope.ts';
import { ScopeFields } from '../scope/scope-fields.tsx';
import { parametersOf } from '../spend/filters.ts';
import { useSpend } from '../spend/use-spend.ts';
import { bodyOf, type PriceValues, priceProblems, priceScopeOf, WHOLE } from './price-form.ts';
import { kindTexts } from './price-texts.ts';
import { TermsFields } from './terms-fields.tsx';

const kinds = choicesOf(kindTexts);

/** Members by which prices choose requests. */
const scopeMembers = ['provider', 'model', 'key', 'project', 'serviceTier'] as const;

/** Effect of a price that begins in the past. */
const PastRequests = ({ values }: { readonly values: PriceValues }) => {
  const { from, lastDay, model } = values;
  const today = utcDate(new Date());
  const isPast = from !== '' && from < today && (lastDay === '' || lastDay >= from);
  const isCountable = isPast && !model.includes('*');
  const yearAgo = utcDate(new Date(Date.now() - 365 * 86_400_000));
  const query = {
    from: from < yearAgo ? yearAgo : from,
    ...(lastDay !== '' && lastDay < today && { to: lastDay }),
    ...parametersOf(spendFiltersOf(priceScopeOf(values))),
  };
  const { data } = useSpend(query, { enabled: isCountable });
  if (!isPast) return null;
  return (
    <p className="dim small">
      Requests since {utcDayText(from)} that it is for are priced again within minutes: counters, budgets and exports
      follow.
      {isCountable && data && data.totals.requests > 0 && (
        <>
          {' '}
          Up to {plural(data.totals.requests, 'request')} of that time, now <Money nano={data.totals.costNanoUsd} />
          {data.totals.unpricedRequests > 0 &&
            ` and ${plural(data.totals.unpricedRequests, 'request')} of unknown cost`}
          .
        </>
      )}
    </p>
  );
};

interface PriceEditorProps {
  readonly price?: OwnPrice | undefined;
  readonly initial: PriceValues;
  readonly onClose: () => void;
}

/** The form of a new price, or of the one that is given. */
export const PriceEditor = ({ price, initial, onClose }: PriceEditorProps) => {
  const form = useForm<PriceValues>({ initialValues: initial, validate: priceProblems });
  return (
    <EditorForm collection="/prices" item={price} form={form} bodyOf={bodyOf} whole={WHOLE} onClose={onClose}>
      <TextInput label="Name" placeholder="Contract of 2026" maxLength={100} {...form.getInputProps('name')} />
      <NativeSelect label="Kind" data={kinds} {...form.getInputProps('kind')} />
      <TermsFields form={form} />
      <ScopeFields form={form} members={scopeMembers} />
      <Checkbox
        label="Only requests with a subscription’s token"
        description="Claude Pro and Max, ChatGPT plans."
        {...form.getInputProps('bySubscription', { type: 'checkbox' })}
      />
      <Group grow align="flex-start">
        <TextInput type="date" label="First day (UTC)" {...form.getInputProps('from')} />
        <TextInput
          type="date"
          label={form.values.kind === 'credit' ? 'Last day (UTC)' : 'Last day (UTC, optional)'}
          {...form.getInputProps('lastDay')}
        />
      </Group>
      <PastRequests values={form.values} />
    </EditorForm>
  );
};

import { Checkbox, Group, NativeSelect, NumberInput, SegmentedControl, Stack, TextInput } from '@mantine/core';
import { type UseFormReturnType, useForm } from '@mantine/form';
import type { ReactNode } from 'react';
import { DAY_MS } from '../../../lambda/domain/calendar/units.ts';
import type { OwnPrice } from '../api/responses.ts';
import { Cost } from '../components/amount.tsx';
import { LoadProblem } from '../components/page.tsx';
import { plural } from '../format/numbers.ts';
import { utcDate, utcDayText } from '../format/time.ts';
import { EditorForm } from '../forms/editor.tsx';
import { choicesOf } from '../forms/fields.ts';
import { RowsField } from '../forms/rows-field.tsx';
import { kindName } from '../providers/names.ts';
import { spendFiltersOf } from '../scope/scope.ts';
import { ScopeFields } from '../scope/scope-fields.tsx';
import { parametersOf } from '../spend/filters.ts';
import { useSpend } from '../spend/use-spend.ts';
import { bodyOf, type PriceValues, priceProblems, priceScopeOf, WHOLE } from './price-form.ts';
import { kindTexts } from './price-texts.ts';

type PriceForm = UseFormReturnType<PriceValues>;

const dollars = { prefix: '$', decimalScale: 9, thousandSeparator: true } as const;
const percent = { suffix: ' %', decimalScale: 4 } as const;

const RateFields = ({ form }: { readonly form: PriceForm }) => (
  <>
    <SegmentedControl
      aria-label="Rates by"
      data={choicesOf({ tokens: 'By tokens', request: 'Flat by request' })}
      {...form.getInputProps('by')}
    />
    {form.values.by === 'request' ? (
      <NumberInput label="Each request" {...dollars} {...form.getInputProps('usdPerRequest')} />
    ) : (
      <Group grow align="flex-start" wrap="wrap" preventGrowOverflow={false}>
        {(['usdPerMillionTokens', 'usdPerUnit'] as const).map((rates) =>
          Object.keys(form.values[rates]).map((kind) => (
            <NumberInput
              key={kind}
              label={`${kindName(kind)}${rates === 'usdPerUnit' ? ', each' : ' / 1M tokens'}`}
              miw={150}
              {...dollars}
              {...form.getInputProps(`${rates}.${kind}`)}
            />
          )),
        )}
      </Group>
    )}
  </>
);

const TierFields = ({ form }: { readonly form: PriceForm }) => (
  <>
    <NativeSelect
      label="Volume of a month"
      data={choicesOf({ usd: 'in USD', tokens: 'in tokens' })}
      {...form.getInputProps('measure')}
    />
    <RowsField form={form} list="tiers" row="tier" newRow={{ from: '', percent: '' }} max={20}>
      {(index) => (
        <>
          <NumberInput
            label={`Tier ${index + 1}: from`}
            flex={1}
            {...(form.values.measure === 'usd' ? dollars : { allowNegative: false, thousandSeparator: true })}
            {...form.getInputProps(`tiers.${index}.from`)}
          />
          <NumberInput label="Discount" flex={1} {...percent} {...form.getInputProps(`tiers.${index}.percent`)} />
        </>
      )}
    </RowsField>
  </>
);

const TermsFields = ({ form }: { readonly form: PriceForm }): ReactNode => {
  switch (form.values.kind) {
    case 'rates':
      return <RateFields form={form} />;
    case 'volume':
      return <TierFields form={form} />;
    case 'discount':
      return <NumberInput label="Percent off" {...percent} {...form.getInputProps('percent')} />;
    case 'markup':
      return <NumberInput label="Percent on top" {...percent} {...form.getInputProps('percent')} />;
    case 'credit':
      return <NumberInput label="Amount" {...dollars} {...form.getInputProps('usd')} />;
    case 'commitment':
      return (
        <Stack>
          <Group grow align="flex-start">
            <NumberInput label="Flat amount" {...dollars} {...form.getInputProps('usd')} />
            <NativeSelect label="Each" data={['hour', 'day', 'month']} {...form.getInputProps('per')} />
          </Group>
          <NumberInput
            label="Usage it pays for (optional)"
            description="At list price. Usage above it is charged. Empty: all usage is paid for."
            {...dollars}
            {...form.getInputProps('includedUsd')}
          />
        </Stack>
      );
    case 'subscription':
      return (
        <NumberInput
          label="What it costs in 30 days (optional)"
          description="It is in no request’s cost. The page Savings compares it with the usage."
          {...dollars}
          {...form.getInputProps('usdPerMonth')}
        />
      );
  }
};

const kinds = choicesOf(kindTexts);

const scopeMembers = ['provider', 'model', 'key', 'project', 'serviceTier'] as const;

/** Effect of a price that begins in the past. */
const PastRequests = ({ values }: { readonly values: PriceValues }) => {
  const { from, lastDay, model } = values;
  const today = utcDate(new Date());
  const isPast = from !== '' && from < today && (lastDay === '' || lastDay >= from);
  const isCountable = isPast && !model.includes('*');
  const yearAgo = utcDate(new Date(Date.now() - 365 * DAY_MS));
  const query = {
    from: from < yearAgo ? yearAgo : from,
    ...(lastDay !== '' && lastDay < today && { to: lastDay }),
    ...parametersOf(spendFiltersOf(priceScopeOf(values))),
  };
  const past = useSpend(query, { enabled: isCountable });
  const { data } = past;
  if (!isPast) return null;
  return (
    <div className="dim small">
      Requests since {utcDayText(from)} that it is for are priced again within minutes: counters, budgets and exports
      follow.
      {isCountable && data && data.totals.requests > 0 && (
        <>
          {' '}
          Up to {plural(data.totals.requests, 'request')} of that time, now{' '}
          <Cost of={data.totals} code={data.displayCurrency?.code} />
          {data.totals.unpricedRequests > 0 &&
            ` and ${plural(data.totals.unpricedRequests, 'request')} of unknown cost`}
          .
        </>
      )}
      <LoadProblem query={past} title="The requests of that time could not be loaded" />
    </div>
  );
};

interface PriceEditorProps {
  readonly price?: OwnPrice | undefined;
  readonly initial: PriceValues;
  readonly onClose: () => void;
}

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

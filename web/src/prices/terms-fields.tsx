import { Group, NativeSelect, NumberInput, SegmentedControl, Stack } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import type { ReactNode } from 'react';
import { choicesOf } from '../forms/fields.ts';
import { RowsField } from '../forms/rows-field.tsx';
import { kindName } from '../providers/names.ts';
import type { PriceValues } from './price-form.ts';

export type PriceForm = UseFormReturnType<PriceValues>;

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
      <NumberInput label="Each request" {...dollars} {...form.getInputProps('perRequest')} />
    ) : (
      <Group grow align="flex-start" wrap="wrap" preventGrowOverflow={false}>
        {Object.keys(form.values.rates).map((kind) => (
          <NumberInput
            key={kind}
            label={`${kindName(kind)} / 1M tokens`}
            miw={150}
            {...dollars}
            {...form.getInputProps(`rates.${kind}`)}
          />
        ))}
        {Object.keys(form.values.unitRates).map((unit) => (
          <NumberInput
            key={unit}
            label={`${kindName(unit)}, each`}
            miw={150}
            {...dollars}
            {...form.getInputProps(`unitRates.${unit}`)}
          />
        ))}
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

/** The fields of the kind that is chosen. */
export const TermsFields = ({ form }: { readonly form: PriceForm }): ReactNode => {
  switch (form.values.kind) {
    case 'rates':
      return <RateFields form={form} />;
    case 'volume':
      return <TierFields form={form} />;
    case 'discount':
      return <NumberInput label="Off" {...percent} {...form.getInputProps('percent')} />;
    case 'markup':
      return <NumberInput label="On top" {...percent} {...form.getInputProps('percent')} />;
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
            description="At list price. More is charged. Without it, all usage is paid for."
            {...dollars}
            {...form.getInputProps('includedUsd')}
          />
        </Stack>
      );
    case 'subscription':
      return (
        <NumberInput
          label="What it costs in 30 days (optional)"
          description="In no cost of requests. Savings compares it with what is used."
          {...dollars}
          {...form.getInputProps('usdPerMonth')}
        />
      );
  }
};

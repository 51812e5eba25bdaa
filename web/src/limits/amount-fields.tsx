import { NativeSelect, NumberInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { choicesOf } from '../forms/fields.ts';
import { dollars } from './limit-types.ts';

/** An amount for one value of a limit, and how long it holds. */
export interface AmountValues {
  readonly amount: number | string;
  readonly holds: 'period_end' | 'good';
}

/** The end of it, as the API takes it. */
export const untilOf = ({ holds }: AmountValues) => (holds === 'good' ? null : ('period_end' as const));

interface AmountFieldsProps {
  readonly form: UseFormReturnType<AmountValues>;
  readonly description?: string;
}

export const AmountFields = ({ form, description }: AmountFieldsProps) => (
  <>
    <NumberInput label="Amount" description={description} {...dollars} {...form.getInputProps('amount')} />
    <NativeSelect
      label="Holds"
      data={choicesOf({ period_end: 'Until the period ends', good: 'For good' })}
      {...form.getInputProps('holds')}
    />
  </>
);

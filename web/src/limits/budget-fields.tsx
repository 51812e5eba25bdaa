import { Checkbox, Group, NativeSelect, NumberInput, Stack, Switch, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { countedMembers, ScopeFields } from '../scope/scope-fields.tsx';
import type { BudgetValues } from './budget-form.ts';
import { ChannelFields } from './channel-fields.tsx';

type BudgetForm = UseFormReturnType<BudgetValues>;

const dollars = { prefix: '$', min: 0.000001, decimalScale: 6, thousandSeparator: true } as const;

const periods = [
  { value: 'hourly', label: 'an hour' },
  { value: 'daily', label: 'a day' },
  { value: 'weekly', label: 'a week' },
  { value: 'monthly', label: 'a month' },
  { value: 'fixed', label: 'for certain days' },
];

const unknownCosts = [
  { value: 'ignore', label: 'Do not count' },
  { value: 'count', label: 'Count as an amount each' },
  { value: 'block', label: 'Use the budget up' },
];

const onUnavailable = [
  { value: 'pass', label: 'Forward requests' },
  { value: 'stop', label: 'Refuse requests' },
];

const enforcements = [
  { value: 'lagging', label: 'Some seconds after it is used up' },
  { value: 'reserved', label: 'Before: each request reserves the most it may cost' },
];

const PeriodFields = ({ form }: { readonly form: BudgetForm }) => (
  <>
    <Group grow align="flex-start">
      <NumberInput label="Amount" {...dollars} {...form.getInputProps('amount')} />
      <NativeSelect
        label="Period"
        description={form.values.period === 'fixed' ? undefined : 'Calendar periods in UTC'}
        inputWrapperOrder={['label', 'input', 'description', 'error']}
        data={periods}
        {...form.getInputProps('period')}
      />
    </Group>
    {form.values.period === 'fixed' && (
      <Group grow align="flex-start">
        <TextInput type="date" label="First day (UTC)" {...form.getInputProps('from')} />
        <TextInput type="date" label="Last day (UTC)" {...form.getInputProps('to')} />
      </Group>
    )}
  </>
);

/** Whether requests are refused, and from when on. */
const BlockFields = ({ form }: { readonly form: BudgetForm }) => (
  <>
    <Switch
      withThumbIndicator={false}
      label="Refuse requests when it is used up"
      description="They get the status 429 with the code BUDGET_EXCEEDED. Running responses go on to their end."
      {...form.getInputProps('blocks', { type: 'checkbox' })}
    />
    {form.values.blocks && <NativeSelect label="When" data={enforcements} {...form.getInputProps('enforcement')} />}
    {form.values.blocks && (
      <Group grow align="flex-start">
        <NumberInput label="From" suffix=" %" min={100} max={1000} {...form.getInputProps('atPercent')} />
        <NativeSelect
          label="If the gateway cannot know"
          data={onUnavailable}
          {...form.getInputProps('onUnavailable')}
        />
      </Group>
    )}
  </>
);

export const BudgetFields = ({ form }: { readonly form: BudgetForm }) => (
  <Stack gap="lg">
    <TextInput label="Name" placeholder="Budget of production" maxLength={100} {...form.getInputProps('name')} />
    <PeriodFields form={form} />
    <ScopeFields form={form} members={countedMembers} />
    <BlockFields form={form} />
    <Group grow align="flex-start">
      <NativeSelect label="Requests of unknown cost" data={unknownCosts} {...form.getInputProps('unknownCost')} />
      {form.values.unknownCost === 'count' && (
        <NumberInput label="Each counts as" {...dollars} {...form.getInputProps('countAs')} />
      )}
    </Group>
    <TextInput
      label="Alerts at"
      description="Percentages of the amount, separated by commas"
      placeholder="80, 100"
      {...form.getInputProps('notifyAt')}
    />
    <ChannelFields form={form} />
    <Checkbox
      label="Responses say what is left"
      description="In USD, in the header X-Service-Budget-Remaining: agents can see how much they may still spend."
      {...form.getInputProps('showRemaining', { type: 'checkbox' })}
    />
  </Stack>
);

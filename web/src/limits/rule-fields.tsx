import { Group, NumberInput, SegmentedControl, Stack, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import type { PeriodName } from '../../../lambda/domain/calendar/periods.ts';
import { countedMembers, ScopeFields } from '../scope/scope-fields.tsx';
import { BurnRateFields } from './burn-rate-fields.tsx';
import { ChannelFields } from './channel-fields.tsx';
import { fieldsOf, hasPeriodChoice, isOfSessions, type RuleValues } from './rule-form.ts';
import { periodLabels, ruleTypes } from './rule-types.ts';
import classes from './rules.module.css';

type RuleForm = UseFormReturnType<RuleValues>;

const NumberFields = ({ form }: { readonly form: RuleForm }) => (
  <Group grow align="flex-start">
    {fieldsOf(form.values).map(({ member, label, description, input: { prefix = '', ...input } }) => (
      <NumberInput
        key={member}
        label={label}
        description={description}
        prefix={form.values.measure === 'cost' ? prefix : ''}
        {...input}
        {...form.getInputProps(member)}
      />
    ))}
  </Group>
);

export const RuleFields = ({ form }: { readonly form: RuleForm }) => {
  const { type } = form.values;
  const { periods } = ruleTypes[type];
  return (
    <Stack gap="lg">
      <TextInput label="Name" placeholder="Daily limit of production" maxLength={100} {...form.getInputProps('name')} />
      {hasPeriodChoice(type) && (
        <div>
          <span className={classes['field-label']} id="period">
            Period
          </span>
          <SegmentedControl
            fullWidth
            aria-labelledby="period"
            data={periods.map((value) => ({ value, label: periodLabels[value] }))}
            value={form.values.period}
            onChange={(value) => form.setFieldValue('period', value as PeriodName)}
          />
          <span className="dim small">
            Calendar {form.values.period === 'hourly' ? 'hours' : 'periods'} in UTC; the rule fires once in each.
          </span>
        </div>
      )}
      {type === 'burn_rate' && <BurnRateFields form={form} />}
      <NumberFields form={form} />
      {!isOfSessions(form.values) && <ScopeFields form={form} members={countedMembers} />}
      <ChannelFields form={form} />
    </Stack>
  );
};

import { Autocomplete, Checkbox, Group, NumberInput, SegmentedControl, Select, Stack, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import type { PeriodName } from '../../../lambda/domain/calendar/periods.ts';
import { DAY_MS } from '../../../lambda/domain/calendar/units.ts';
import { useApi } from '../app.ts';
import { utcDate } from '../format/time.ts';
import { providerChoices } from '../providers/names.ts';
import { hasPeriodChoice, type RuleValues } from './rule-form.ts';
import { periodLabels, ruleTypes } from './rule-types.ts';
import classes from './rules.module.css';

type RuleForm = UseFormReturnType<RuleValues>;

const DAYS = 30;

/** Names seen recently, as suggestions. */
const useSeen = (dimension: 'model' | 'tag'): string[] => {
  const from = utcDate(new Date(Date.now() - DAYS * DAY_MS));
  const { data } = useApi().useQuery('get', '/spend', {
    params: { query: { from, granularity: 'day', groupBy: [dimension], limit: 100 } },
  });
  return data?.groups.flatMap((group) => group[dimension] ?? []) ?? [];
};

const NumberFields = ({ form }: { readonly form: RuleForm }) => (
  <Group grow align="flex-start">
    {ruleTypes[form.values.type].fields.map(({ member, label, description, input }) => (
      <NumberInput key={member} label={label} description={description} {...input} {...form.getInputProps(member)} />
    ))}
  </Group>
);

export const RuleFields = ({ form }: { readonly form: RuleForm }) => {
  const { type, channels } = form.values;
  const models = useSeen('model');
  const tags = useSeen('tag');
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
      <NumberFields form={form} />
      <fieldset className={classes['fieldset']}>
        <legend>Only requests of</legend>
        <Select
          placeholder="any provider"
          aria-label="Provider"
          clearable
          searchable
          data={providerChoices}
          value={form.values.provider || null}
          onChange={(value) => form.setFieldValue('provider', value ?? '')}
        />
        <Autocomplete
          placeholder="any model"
          aria-label="Model"
          data={models}
          maxLength={128}
          limit={20}
          {...form.getInputProps('model')}
        />
        <Autocomplete
          placeholder="any tag"
          aria-label="Tag"
          data={tags}
          maxLength={64}
          limit={20}
          {...form.getInputProps('tag')}
        />
      </fieldset>
      <Checkbox.Group
        label="Notify by"
        value={[...channels]}
        onChange={(value) => form.setFieldValue('channels', value as RuleValues['channels'])}
        error={form.errors['channels']}
      >
        <Group mt={6}>
          <Checkbox value="email" label="E-mail to the account’s users" />
          <Checkbox value="webhook" label="Webhook" />
        </Group>
      </Checkbox.Group>
      {channels.includes('webhook') && (
        <TextInput
          label="Webhook address"
          description="Signed. Works with Slack’s incoming webhooks."
          placeholder="https://hooks.slack.com/services/…"
          maxLength={2048}
          {...form.getInputProps('webhookUrl')}
        />
      )}
    </Stack>
  );
};

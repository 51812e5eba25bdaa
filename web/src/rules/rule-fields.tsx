import { Autocomplete, Checkbox, Group, NumberInput, SegmentedControl, Select, Stack, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useApi } from '../app.ts';
import { utcDate } from '../format/time.ts';
import { providerChoices } from '../providers/providers.ts';
import { hasMember, type Period, periodNames, type RuleValues, ruleTypes } from './rule-form.ts';
import classes from './rules.module.css';

export type RuleForm = UseFormReturnType<RuleValues>;

const DAYS = 30;
const DAY_MS = 86_400_000;

/** What a sum of money takes: down to a millionth of a dollar, as the API does. */
const dollars = { prefix: '$', min: 0.000001, decimalScale: 6, thousandSeparator: true } as const;
/** What a number of requests takes. */
const count = { min: 1, allowDecimal: false, thousandSeparator: true } as const;

/** Names seen of late, as suggestions. */
const useSeen = (dimension: 'model' | 'tag'): string[] => {
  const from = utcDate(new Date(Date.now() - DAYS * DAY_MS));
  const { data } = useApi().useQuery('get', '/spend', {
    params: { query: { from, granularity: 'day', groupBy: [dimension], limit: 100 } },
  });
  return data?.groups.flatMap((group) => group[dimension] ?? []) ?? [];
};

const Limit = ({ form }: { readonly form: RuleForm }) => {
  const { type } = form.values;
  if (type === 'spend_anomaly') {
    return (
      <Group grow align="flex-start">
        <NumberInput
          label="Times the usual"
          description="The median of recent periods"
          min={1.1}
          max={1000}
          step={0.5}
          decimalScale={2}
          {...form.getInputProps('factor')}
        />
        <NumberInput
          label="But at least"
          description="Below it, nothing is unusual"
          {...dollars}
          {...form.getInputProps('minimum')}
        />
      </Group>
    );
  }
  if (type === 'budget_forecast') {
    return <NumberInput label="Budget a month" {...dollars} {...form.getInputProps('budget')} />;
  }
  if (type === 'error_rate') {
    return (
      <Group grow align="flex-start">
        <NumberInput
          label="Failing share"
          suffix="%"
          min={0.01}
          max={100}
          decimalScale={2}
          {...form.getInputProps('threshold')}
        />
        <NumberInput label="Of at least" suffix=" requests" {...count} {...form.getInputProps('minimumRequests')} />
      </Group>
    );
  }
  if (type === 'unpriced_usage') {
    return <NumberInput label="Requests of unknown cost" {...count} {...form.getInputProps('threshold')} />;
  }
  return <NumberInput label="Limit" {...dollars} {...form.getInputProps('threshold')} />;
};

export const RuleFields = ({ form }: { readonly form: RuleForm }) => {
  const { type, channels } = form.values;
  const models = useSeen('model');
  const tags = useSeen('tag');
  const { periods } = ruleTypes[type];
  return (
    <Stack gap="lg">
      <TextInput label="Name" placeholder="Daily limit of production" maxLength={100} {...form.getInputProps('name')} />
      {hasMember(type, 'period') && (
        <div>
          <span className={classes['field-label']} id="period">
            Each
          </span>
          <SegmentedControl
            fullWidth
            aria-labelledby="period"
            data={periods.map((value) => ({ value, label: periodNames[value] }))}
            value={form.values.period}
            onChange={(value) => form.setFieldValue('period', value as Period)}
          />
          <span className="dim small">
            Calendar {form.values.period === 'hourly' ? 'hours' : 'periods'} in UTC; it fires once in each.
          </span>
        </div>
      )}
      <Limit form={form} />
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
        label="Tell by"
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
          description="Signed; fits Slack’s incoming webhooks as it is."
          placeholder="https://hooks.slack.com/services/…"
          maxLength={2048}
          {...form.getInputProps('webhookUrl')}
        />
      )}
    </Stack>
  );
};

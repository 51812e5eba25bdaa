import { Autocomplete, Checkbox, Group, NumberInput, SegmentedControl, Select, Stack, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import type { PeriodName } from '../../../lambda/domain/calendar/periods.ts';
import { DAY_MS } from '../../../lambda/domain/calendar/units.ts';
import { UNKNOWN } from '../../../lambda/domain/spend/dimensions.ts';
import { useApi } from '../app.ts';
import { utcDate } from '../format/time.ts';
import { providerChoices } from '../providers/names.ts';
import type { Dimension } from '../spend/filters.ts';
import { groupValue } from '../spend/groups.ts';
import { useKeyNames } from '../spend/use-key-names.ts';
import { hasPeriodChoice, type RuleValues } from './rule-form.ts';
import { periodLabels, ruleTypes } from './rule-types.ts';
import classes from './rules.module.css';

type RuleForm = UseFormReturnType<RuleValues>;

const DAYS = 30;

/** Names seen recently, as suggestions. */
const useSeen = (dimension: Dimension | undefined): string[] => {
  const from = utcDate(new Date(Date.now() - DAYS * DAY_MS));
  const { data } = useApi().useQuery(
    'get',
    '/spend',
    { params: { query: { from, granularity: 'day', groupBy: dimension ? [dimension] : [], limit: 100 } } },
    { enabled: dimension !== undefined },
  );
  if (!data || !dimension) return [];
  return data.groups.map((group) => groupValue(group, dimension)).filter((name) => name !== '' && name !== UNKNOWN);
};

/** A value of a declared dimension. An account that declared none does not see it. */
const DimensionFields = ({ form }: { readonly form: RuleForm }) => {
  const { dimension } = form.values;
  const { data } = useApi().useQuery('get', '/dimensions');
  const names = (data?.items ?? []).flatMap(({ name, isDeclared }) => (isDeclared || name === dimension ? name : []));
  const values = useSeen(dimension === '' ? undefined : `dim:${dimension}`);
  if (names.length === 0) return null;
  return (
    <>
      <Select
        placeholder="any dimension"
        aria-label="Dimension"
        clearable
        data={names}
        value={dimension || null}
        onChange={(value) => form.setFieldValue('dimension', value ?? '')}
      />
      {dimension !== '' && (
        <Autocomplete
          placeholder={`a ${dimension}`}
          aria-label="Value of the dimension"
          data={values}
          maxLength={128}
          limit={20}
          {...form.getInputProps('dimensionValue')}
        />
      )}
    </>
  );
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
  const clients = useSeen('client');
  const keyNames = useKeyNames();
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
        <Select
          placeholder="any service key"
          aria-label="Service key"
          clearable
          searchable
          data={[...keyNames].map(([value, label]) => ({ value, label }))}
          value={form.values.key || null}
          onChange={(value) => form.setFieldValue('key', value ?? '')}
        />
        <Autocomplete
          placeholder="any client"
          aria-label="Client"
          data={clients}
          maxLength={64}
          limit={20}
          {...form.getInputProps('client')}
        />
        <DimensionFields form={form} />
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

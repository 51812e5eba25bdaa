import { Group, MultiSelect, Select, Stack, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useApi } from '../app.ts';
import { ChannelFields } from '../limits/channel-fields.tsx';
import { frequencyNames, groupings, hours, MAX_GROUPINGS, type ReportValues } from './report-form.ts';

export const ReportFields = ({ form }: { readonly form: UseFormReturnType<ReportValues> }) => {
  const api = useApi();
  const { data: dimensions } = api.useQuery('get', '/dimensions');
  const { data: members } = api.useQuery('get', '/members');
  const { groupBy, channels } = form.values;
  const declared = (dimensions?.items ?? []).filter(({ isDeclared }) => isDeclared).map(({ name }) => `dim:${name}`);
  const choices = [
    ...Object.entries(groupings).map(([value, label]) => ({ value, label })),
    ...[...new Set([...declared, ...groupBy.filter((by) => by.startsWith('dim:'))])].map((value) => ({
      value,
      label: value.slice('dim:'.length),
    })),
  ];
  return (
    <Stack gap="lg">
      <TextInput label="Name" placeholder="Weekly spend" maxLength={100} {...form.getInputProps('name')} />
      <Group grow align="flex-start">
        <Select
          label="Every"
          allowDeselect={false}
          data={Object.entries(frequencyNames).map(([value, label]) => ({ value, label }))}
          {...form.getInputProps('every')}
        />
        <Select
          label="Sent at"
          description="The day after, in the reports’ time zone"
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          allowDeselect={false}
          data={hours}
          {...form.getInputProps('hour')}
        />
      </Group>
      <MultiSelect
        label="Spend by"
        description="One table each"
        maxValues={MAX_GROUPINGS}
        data={choices}
        {...form.getInputProps('groupBy')}
      />
      <ChannelFields form={form} label="Send to" />
      {channels.includes('email') && (
        <MultiSelect
          label="Who gets the mail"
          placeholder={form.values.recipients.length === 0 ? 'All members' : ''}
          data={(members?.items ?? []).map(({ userId, email }) => ({ value: userId, label: email }))}
          {...form.getInputProps('recipients')}
        />
      )}
    </Stack>
  );
};

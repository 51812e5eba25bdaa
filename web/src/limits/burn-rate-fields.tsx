import { Group, Select } from '@mantine/core';
import type { FormPart } from '../components/form-part.ts';
import type { RuleValues } from './rule-form.ts';

const eachLabels = {
  key: 'Service key',
  project: 'Project',
  tag: 'Tag',
  session: 'Session (within a day)',
} as const;

const measures = [
  { value: 'cost', label: 'Cost' },
  { value: 'requests', label: 'Requests' },
];

const pauseLabels: Readonly<Record<string, string>> = {
  none: 'Only warn',
  60: 'Refuse its requests for an hour',
  720: 'Refuse its requests for 12 hours',
  1440: 'Refuse its requests for a day',
  10080: 'Refuse its requests for a week',
};

const pauseName = (pause: RuleValues['pause']): string => (pause === null ? 'none' : String(pause.minutes));

/** What a rule about runaways judges one by one, and what it does to what fires. */
export const BurnRateFields = ({ form }: { readonly form: FormPart<RuleValues> }) => {
  const { pause } = form.values;
  const choices = { ...pauseLabels };
  // Stored by a program.
  if (!(pauseName(pause) in choices))
    choices[pauseName(pause)] =
      `Refuse its requests ${pause?.minutes ? `for ${pause.minutes} minutes` : 'until somebody resumes it'}`;
  return (
    <>
      <Group grow align="flex-start">
        <Select
          label="Each"
          description="Judged on its own, so that one that runs away stands out"
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          allowDeselect={false}
          data={Object.entries(eachLabels).map(([value, label]) => ({ value, label }))}
          {...form.getInputProps('each')}
        />
        <Select label="Counts" allowDeselect={false} data={measures} {...form.getInputProps('measure')} />
      </Group>
      <Select
        label="Then"
        allowDeselect={false}
        data={Object.entries(choices).map(([value, label]) => ({ value, label }))}
        value={pauseName(pause)}
        error={form.errors['pause']}
        onChange={(value) =>
          form.setFieldValue('pause', value === 'none' ? null : { minutes: value === 'null' ? null : Number(value) })
        }
      />
    </>
  );
};

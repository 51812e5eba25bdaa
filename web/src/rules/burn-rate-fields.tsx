import { Select } from '@mantine/core';
import type { FormPart } from '../components/form-part.ts';
import type { RuleValues } from './rule-form.ts';

const eachLabels = {
  key: 'Service key',
  project: 'Project',
  tag: 'Tag',
  session: 'Session (within a day)',
} as const;

const pauseLabels: Readonly<Record<string, string>> = {
  none: 'Only warn',
  60: 'Refuse its requests for an hour',
  720: 'Refuse its requests for 12 hours',
  1440: 'Refuse its requests for a day',
  10080: 'Refuse its requests for a week',
};

type Pause = { readonly minutes: number | null } | null;

const pauseName = (pause: Pause): string => (pause === null ? 'none' : String(pause.minutes));

/** What a rule about runaways judges one by one, and what it does to what fires. */
export const BurnRateFields = ({ form }: { readonly form: FormPart<RuleValues> }) => {
  const { others } = form.values;
  const pause = (others['pause'] ?? null) as Pause;
  const set = (members: object) => form.setFieldValue('others', { ...others, ...members });
  const choices = { ...pauseLabels };
  // Stored by a program.
  if (!(pauseName(pause) in choices))
    choices[pauseName(pause)] =
      `Refuse its requests ${pause?.minutes ? `for ${pause.minutes} minutes` : 'until somebody resumes it'}`;
  return (
    <>
      <Select
        label="Each"
        description="Judged on its own, so that one that runs away stands out"
        allowDeselect={false}
        data={Object.entries(eachLabels).map(([value, label]) => ({ value, label }))}
        value={String(others['each'])}
        onChange={(each) => set({ each })}
      />
      <Select
        label="Then"
        allowDeselect={false}
        data={Object.entries(choices).map(([value, label]) => ({ value, label }))}
        value={pauseName(pause)}
        onChange={(value) =>
          set({ pause: value === 'none' ? null : { minutes: value === 'null' ? null : Number(value) } })
        }
      />
    </>
  );
};

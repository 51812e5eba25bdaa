import { Button, NativeSelect, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useApi } from '../app.ts';
import { notifyDone } from '../components/notify.ts';
import { ProblemNote } from '../components/problem-note.tsx';
import { fieldErrors, required } from '../forms/fields.ts';
import { type ScopeValues, scopeOf, scopeValuesOf } from '../scope/scope.ts';
import { ScopeFields } from '../scope/scope-fields.tsx';
import { useReloadPauses } from './use-pauses.ts';

/** What pauses can be chosen by. */
const scopeMembers = ['provider', 'model', 'tag', 'key', 'project', 'session', 'client'] as const;

const durations = [
  { value: '15', label: '15 minutes' },
  { value: '60', label: 'An hour' },
  { value: '1440', label: 'A day' },
  { value: '', label: 'Until somebody resumes it' },
];

const pauseProblems = ({ name, minutes: _, ...scope }: ScopeValues & { name: string; minutes: string }) => ({
  name: required('A reason')(name),
  scope:
    Object.keys(scopeOf(scope)).length === 0
      ? 'Choose what to pause.'
      : scope.key !== '' && scope.project !== ''
        ? 'A key or a project, not both.'
        : null,
});

/** Refuses the requests of a scope for a time. */
export const CreatePause = ({ onClose }: { readonly onClose: () => void }) => {
  const api = useApi();
  const reload = useReloadPauses();
  const form = useForm({
    initialValues: { ...scopeValuesOf(undefined), name: '', minutes: '60' },
    validate: pauseProblems as never,
  });
  const create = api.useMutation('post', '/pauses', {
    onSuccess: ({ name }) => {
      notifyDone(`${name}: requests are refused within seconds, or within a minute if it is the first time.`);
      onClose();
    },
    onError: (error) => form.setErrors(fieldErrors(error, 'scope', ...Object.keys(form.values))),
    onSettled: () => reload(),
  });
  return (
    <form
      noValidate
      onSubmit={form.onSubmit(({ name, minutes, ...values }) => {
        const { dim: _, serviceTier: _tier, ...scope } = scopeOf(values);
        create.mutate({ body: { name, scope, minutes: minutes === '' ? null : Number(minutes) } });
      })}
    >
      <Stack>
        {create.isError && <ProblemNote error={create.error} title="Nothing was paused" />}
        <Text size="sm">
          The gateway refuses its requests with the status 429 and the code PAUSED. Running responses go on to their
          end.
        </Text>
        <ScopeFields form={form} members={scopeMembers} />
        <TextInput
          label="Reason"
          description="The refused client sees it."
          placeholder="Runaway loop"
          maxLength={100}
          {...form.getInputProps('name')}
        />
        <NativeSelect label="For" data={durations} {...form.getInputProps('minutes')} />
        <Button type="submit" loading={create.isPending}>
          Pause
        </Button>
      </Stack>
    </form>
  );
};

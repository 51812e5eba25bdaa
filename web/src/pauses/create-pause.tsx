import { Button, NativeSelect, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { fieldErrors, required } from '../account/fields.ts';
import { useApi } from '../app.ts';
import { notifyDone } from '../components/notify.ts';
import { ProblemNote } from '../components/problem-note.tsx';
import { useReloadPauses } from './use-pauses.ts';

const kinds = [
  { value: 'tag', label: 'A tag' },
  { value: 'key', label: 'A service key' },
  { value: 'project', label: 'A project' },
  { value: 'session', label: 'A session' },
];

const durations = [
  { value: '15', label: '15 minutes' },
  { value: '60', label: 'An hour' },
  { value: '1440', label: 'A day' },
  { value: '', label: 'Until somebody resumes it' },
];

/** Refuses the requests of one tag, key, project or session for a time. */
export const CreatePause = ({ onClose }: { readonly onClose: () => void }) => {
  const api = useApi();
  const reload = useReloadPauses();
  const { data: keys } = api.useQuery('get', '/keys');
  const { data: projects } = api.useQuery('get', '/projects');
  const form = useForm({
    initialValues: { kind: 'tag', value: '', name: '', minutes: '60' },
    validate: { value: required('What to pause'), name: required('A reason') },
  });
  const create = api.useMutation('post', '/pauses', {
    onSuccess: ({ name }) => {
      notifyDone(`${name}: requests are refused within seconds, or within a minute if it is the first time.`);
      onClose();
    },
    onError: (error) => form.setErrors(fieldErrors(error, 'name')),
    onSettled: () => reload(),
  });
  const choices = { key: keys?.items.filter(({ status }) => status !== 'revoked'), project: projects?.items };
  const { kind } = form.values;
  return (
    <form
      noValidate
      onSubmit={form.onSubmit(({ kind: member, value, name, minutes }) =>
        create.mutate({
          body: { name, scope: { [member]: value.trim() }, minutes: minutes === '' ? null : Number(minutes) },
        }),
      )}
    >
      <Stack>
        {create.isError && <ProblemNote error={create.error} title="Nothing was paused" />}
        <Text size="sm">
          The gateway refuses its requests with the status 429 and the code PAUSED. Running responses go on to their
          end.
        </Text>
        <NativeSelect
          label="What"
          data={kinds}
          value={kind}
          onChange={({ currentTarget }) => form.setValues({ kind: currentTarget.value, value: '' })}
        />
        {kind === 'key' || kind === 'project' ? (
          <NativeSelect
            label="Which"
            data={[
              { value: '', label: 'Choose one' },
              ...(choices[kind] ?? []).map(({ id, name }) => ({ value: id, label: name })),
            ]}
            {...form.getInputProps('value')}
          />
        ) : (
          <TextInput label="Which" maxLength={128} {...form.getInputProps('value')} />
        )}
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

import { NativeSelect, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { EditorForm } from '../forms/editor.tsx';
import { ScopeFields } from '../scope/scope-fields.tsx';
import { bodyOf, durations, emptyPause, type PauseValues, pauseProblems, scopeMembers } from './pause-form.ts';

/** Refuses the requests of a scope for a time. */
export const CreatePause = ({ onClose }: { readonly onClose: () => void }) => {
  const form = useForm<PauseValues>({ initialValues: emptyPause, validate: pauseProblems });
  return (
    <EditorForm collection="/pauses" item={undefined} form={form} bodyOf={bodyOf} whole={['minutes']} onClose={onClose}>
      <Text size="sm">
        The gateway refuses its requests with the status 429 and the code PAUSED. Running responses go on to their end.
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
    </EditorForm>
  );
};

import { Group, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { Decided, Finding } from '../api/responses.ts';
import { useApi } from '../app.ts';
import { ActButton, DialogButton } from '../components/buttons.tsx';
import { required } from '../forms/fields.ts';
import { SubmitForm } from '../forms/submit-form.tsx';

const Dismiss = ({
  finding: { kind, scope },
  onClose,
}: {
  readonly finding: Finding;
  readonly onClose: () => void;
}) => {
  const form = useForm({ initialValues: { reason: '' }, validate: { reason: required('A reason') } });
  const dismiss = useApi().useMutation('put', '/savings/decisions', { onSuccess: onClose });
  return (
    <SubmitForm
      form={form}
      request={dismiss}
      sent={({ reason }) => ({ body: { kind, scope, decision: 'dismissed' as const, reason } })}
      failure="The finding was not dismissed"
      submit="Dismiss"
    >
      <TextInput
        label="Reason"
        description="Members who see the whole account see it, and it is in the audit log."
        maxLength={500}
        data-autofocus
        {...form.getInputProps('reason')}
      />
    </SubmitForm>
  );
};

/** Dismisses a finding with a reason, or watches what its requests cost from now on. */
export const Decide = ({ finding }: { readonly finding: Finding }) => {
  const { kind, scope } = finding;
  const watch = useApi().useMutation('put', '/savings/decisions', {
    meta: { done: 'The finding is watched.', failure: 'The finding is not watched' },
  });
  return (
    <Group gap={0} ml={-8}>
      <ActButton
        needs="reports:write"
        label="Watch"
        act={watch}
        sent={{ body: { kind, scope, decision: 'watched' } }}
      />
      <DialogButton
        needs="reports:write"
        size="compact-xs"
        variant="subtle"
        color="gray"
        label="Dismiss"
        title="Dismiss the finding"
      >
        {(close) => <Dismiss finding={finding} onClose={close} />}
      </DialogButton>
    </Group>
  );
};

/** Takes a decision back: the finding is listed again. */
export const Undo = ({ of: { id } }: { readonly of: Decided }) => {
  const undo = useApi().useMutation('delete', '/savings/decisions/{id}', { meta: { failure: 'Nothing was undone' } });
  return <ActButton needs="reports:write" label="Undo" act={undo} sent={{ params: { path: { id } } }} />;
};

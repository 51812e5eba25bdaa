import { Alert, NativeSelect, Stack, Text, TextInput, type TextInputProps } from '@mantine/core';
import { useForm } from '@mantine/form';
import { problemOf } from '../api/problem.ts';
import type { Key } from '../api/responses.ts';
import { useApi, useMe } from '../app.ts';
import { Instant } from '../components/amount.tsx';
import { Decision } from '../components/buttons.tsx';
import { ShownOnce } from '../components/copy.tsx';
import { ProblemNote } from '../components/page.tsx';
import { changesOf } from '../forms/changes.ts';
import { choicesOf, required } from '../forms/fields.ts';
import { SubmitForm } from '../forms/submit-form.tsx';
import { useMemberChoices, useProjectChoices } from '../scope/scope-fields.tsx';

interface CreateKeyProps {
  readonly onClose: () => void;
  readonly onCreated?: (key: string) => void;
}

const LastDay = (props: TextInputProps) => (
  <TextInput
    type="date"
    label="Last day (UTC, optional)"
    description="Requests with the key are rejected afterwards."
    {...props}
  />
);

const NOBODY = 'nobody';

export const CreateKey = ({ onClose, onCreated }: CreateKeyProps) => {
  const api = useApi();
  const { me, may } = useMe();
  const projects = useProjectChoices();
  const members = useMemberChoices();
  const form = useForm({
    initialValues: { name: '', project: '', member: '', lastDay: '' },
    validate: { name: required('A name') },
  });
  const create = api.useMutation('post', '/keys', { onSuccess: ({ key }) => onCreated?.(key) });
  if (create.data) return <ShownOnce secret={create.data.key} what="key" onClose={onClose} />;
  return (
    <SubmitForm
      form={form}
      request={create}
      sent={({ name, project, member, lastDay }) => ({
        body: {
          name,
          ...(project !== '' && { project }),
          ...(member !== '' && { member: member === NOBODY ? null : member }),
          ...(lastDay !== '' && { validUntil: `${lastDay}T23:59:59Z` }),
        },
      })}
      failure="The key was not created"
      submit="Create the key"
    >
      <TextInput
        label="Name"
        placeholder="Production, batch jobs, Ada’s laptop …"
        maxLength={64}
        data-autofocus
        {...form.getInputProps('name')}
      />
      <NativeSelect label="Project" data={projects} {...form.getInputProps('project')} />
      {may('keys:write-all') && (
        <NativeSelect
          label="Member"
          description="The key’s spend is shown under this member. This cannot be changed later."
          data={[
            { value: '', label: 'You' },
            ...members.filter(({ value }) => value !== me?.user.userId),
            { value: NOBODY, label: 'Nobody: a program' },
          ]}
          {...form.getInputProps('member')}
        />
      )}
      <LastDay {...form.getInputProps('lastDay')} />
    </SubmitForm>
  );
};

interface KeyDialogProps {
  readonly target: Key;
  readonly onClose: () => void;
}

const bodyOf = ({ name, project, lastDay }: Readonly<Record<'name' | 'project' | 'lastDay', string>>) => ({
  name,
  project,
  validUntil: lastDay === '' ? null : `${lastDay}T23:59:59Z`,
});

export const EditKey = ({ target, onClose }: KeyDialogProps) => {
  const projects = useProjectChoices();
  const form = useForm({
    initialValues: { name: target.name, project: target.project, lastDay: target.validUntil?.slice(0, 10) ?? '' },
    validate: { name: required('A name') },
  });
  const change = useApi().useMutation('patch', '/keys/{id}', { onSuccess: onClose, meta: { done: 'Key changed.' } });
  return (
    <SubmitForm
      form={form}
      request={change}
      sent={(values) => ({
        params: { path: { id: target.id } },
        body: changesOf(bodyOf(form.getInitialValues()), bodyOf(values)),
      })}
      failure="The key was not changed"
      submit="Save"
    >
      <TextInput label="Name" maxLength={64} data-autofocus {...form.getInputProps('name')} />
      <NativeSelect
        label="Project"
        description="Its past spend moves along."
        data={projects}
        {...form.getInputProps('project')}
      />
      <LastDay {...form.getInputProps('lastDay')} />
    </SubmitForm>
  );
};

export const RevokeKey = ({ target, onClose }: KeyDialogProps) => {
  const revoke = useApi().useMutation('delete', '/keys/{id}', {
    onSuccess: onClose,
    meta: { done: `${target.name} revoked.` },
  });
  // The API revokes the last active key only with `force`. Other conflicts have the same code.
  const isLast = revoke.isError && problemOf(revoke.error).message.includes('?force=true');
  const send = () => revoke.mutate({ params: { path: { id: target.id }, query: isLast ? { force: 'true' } : {} } });
  return (
    <Stack>
      <Text size="sm">
        Requests with <strong>{target.name}</strong> (<span className="mono">{target.maskedKey}</span>) will be rejected
        within a minute. This cannot be undone. Its spend stays in all reports.
      </Text>
      {target.lastUsedAt && (
        <Text size="sm" c="dimmed">
          Last used <Instant iso={target.lastUsedAt} ago />.
        </Text>
      )}
      {isLast && (
        <Alert color="yellow">This is the last active key: all tracked traffic of the account would stop.</Alert>
      )}
      {revoke.isError && !isLast && <ProblemNote error={revoke.error} title="The key was not revoked" />}
      <Decision
        action={isLast ? 'Revoke the last key' : 'Revoke the key'}
        isPending={revoke.isPending}
        onConfirm={send}
        onClose={onClose}
      />
    </Stack>
  );
};

const overlaps = choicesOf({
  0: 'Not at all: it may have leaked',
  1: 'For an hour',
  24: 'For a day',
  168: 'For seven days',
});

export const RotateKey = ({ target, onClose }: KeyDialogProps) => {
  const form = useForm({ initialValues: { overlapHours: '24' } });
  const rotate = useApi().useMutation('post', '/keys/{id}/rotate');
  if (rotate.data) return <ShownOnce secret={rotate.data.key} what="secret" onClose={onClose} />;
  return (
    <SubmitForm
      form={form}
      request={rotate}
      sent={({ overlapHours }) => ({
        params: { path: { id: target.id } },
        body: { overlapHours: Number(overlapHours) },
      })}
      failure="The key was not rotated"
      submit="Rotate the key"
    >
      <Text size="sm">
        <strong>{target.name}</strong> gets a new secret. Its name, project and spend stay.
      </Text>
      <NativeSelect label="The former secret still works" data={overlaps} {...form.getInputProps('overlapHours')} />
    </SubmitForm>
  );
};

import { Alert, MultiSelect, type MultiSelectProps, NativeSelect, Textarea } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { projectRoles } from '../../../lambda/domain/accounts/permissions.ts';
import type { Role } from '../api/responses.ts';
import { notifyDone, useApi, useMe } from '../app.ts';
import { plural } from '../format/numbers.ts';
import { SubmitForm } from '../forms/submit-form.tsx';
import { useProjectChoices } from '../scope/scope-fields.tsx';
import { inviteesIn } from './invitees.ts';
import { type GrantableRole, grantableRoles, roleOptions } from './roles.ts';

export const mayHaveProjects = (role: Role): boolean => (projectRoles as readonly Role[]).includes(role);

/** Closed until it has its choices: what is typed before would find none. */
export const ProjectsField = (props: MultiSelectProps) => {
  const choices = useProjectChoices();
  return (
    <MultiSelect
      label="Projects"
      description="They see only these. Empty: all projects."
      data={choices}
      disabled={choices.length === 0}
      searchable
      selectFirstOptionOnChange
      {...props}
    />
  );
};

/** Invites one address, or the many of a list or CSV. Lines that the API refuses stay in the form, with the reason. */
export const Invite = ({ onClose }: { readonly onClose: () => void }) => {
  const { me } = useMe();
  const roles = grantableRoles(me);
  const [refused, setRefused] = useState<readonly string[]>([]);
  const form = useForm({
    initialValues: { email: '', role: 'member' as GrantableRole, projects: [] as string[] },
    validate: { email: (text, { role }) => inviteesIn(text, role, roles).problem },
  });
  const { email: text, role } = form.values;
  const { invitees } = inviteesIn(text, role, roles);
  const isMixed = invitees.some((each) => !mayHaveProjects(each.role));
  const invite = useApi().useMutation('post', '/invitations/batch', {
    onSuccess: ({ items }) => {
      const left = items.filter(({ status }) => status !== 'invited');
      const sent = items.length - left.length;
      if (sent > 0)
        notifyDone(
          items.length === 1
            ? `An invitation is on its way to ${items[0]?.email}.`
            : `${plural(sent, 'invitation')} on the way.`,
        );
      if (left.length === 0) return onClose();
      const roleOf = (email: string) => invitees.find((each) => each.email === email)?.role ?? role;
      form.setFieldValue('email', left.map(({ email }) => `${email},${roleOf(email)}`).join('\n'));
      setRefused(
        left.map(({ email, error }) => (error?.includes(email) ? error : `${email}: ${error ?? 'not sent yet'}`)),
      );
    },
  });
  return (
    <SubmitForm
      form={form}
      request={invite}
      sent={({ projects }) => ({
        body: {
          lines: invitees.map((each) => ({
            ...each,
            ...(projects.length > 0 && mayHaveProjects(each.role) && { projects }),
          })),
        },
      })}
      failure="No invitation was sent"
      submit={invitees.length > 1 ? `Send ${invitees.length} invitations` : 'Send the invitation'}
    >
      {refused.length > 0 && (
        <Alert color="red" title={`${plural(refused.length, 'invitation')} not sent`}>
          {refused.map((each) => (
            <div key={each}>{each}</div>
          ))}
        </Alert>
      )}
      <Textarea
        label="E-mail"
        description="One address, or a list or CSV: a line for each, with a role where it differs."
        autosize
        maxRows={10}
        data-autofocus
        {...form.getInputProps('email')}
      />
      <NativeSelect label="Role" data={roleOptions(me)} {...form.getInputProps('role')} />
      {mayHaveProjects(role) && (
        <ProjectsField
          {...(isMixed && { description: 'For members, viewers and developers. Others see the whole account.' })}
          {...form.getInputProps('projects')}
        />
      )}
    </SubmitForm>
  );
};

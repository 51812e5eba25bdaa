import { Badge, Button, Group, Modal, NativeSelect, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { UserPlus } from 'lucide-react';
import { useState } from 'react';
import type { Invitation, Member } from '../api/responses.ts';
import { useApi, useApp, useMe } from '../app.ts';
import { Instant } from '../components/amount.tsx';
import { ConfirmButton } from '../components/confirm.tsx';
import { ListPage } from '../components/list-page.tsx';
import { notifyDone, notifyProblem } from '../components/notify.ts';
import { type Column, Table } from '../components/table.tsx';
import { plural } from '../format/quantity.ts';
import { emailProblem } from '../forms/fields.ts';
import { SubmitForm } from '../forms/submit-form.tsx';
import { type GrantableRole, grantableRoles, roleOptions, roleTexts } from './roles.ts';

const Invite = ({ onClose }: { readonly onClose: () => void }) => {
  const { me } = useMe();
  const form = useForm({
    initialValues: { email: '', role: 'member' as GrantableRole },
    validate: { email: emailProblem },
  });
  const invite = useApi().useMutation('post', '/invitations', {
    onSuccess: ({ email }) => {
      notifyDone(`An invitation is on its way to ${email}.`);
      onClose();
    },
  });
  return (
    <SubmitForm
      form={form}
      request={invite}
      sent={(body) => ({ body })}
      failure="The invitation was not sent"
      submit="Send the invitation"
    >
      <TextInput label="E-mail" type="email" data-autofocus {...form.getInputProps('email')} />
      <NativeSelect label="Role" data={roleOptions(me)} {...form.getInputProps('role')} />
    </SubmitForm>
  );
};

interface MemberProps {
  readonly member: Member;
}

const pathOf = ({ userId }: Member) => ({ params: { path: { userId } } });

const Who = ({ member: { userId, firstName, lastName, email } }: MemberProps) => {
  const { me } = useMe();
  return (
    <>
      <span>
        {firstName} {lastName} {userId === me?.user.userId && <span className="dim small">(you)</span>}
      </span>
      <br />
      <span className="dim small" style={{ overflowWrap: 'anywhere' }}>
        {email}
      </span>
    </>
  );
};

const MemberRole = ({ member }: MemberProps) => {
  const { me, may } = useMe();
  const change = useApi().useMutation('patch', '/members/{userId}', {
    onError: notifyProblem('The role was not changed'),
  });
  if (!may('members:write') || member.role === 'owner')
    return <span title={roleTexts[member.role]}>{member.role}</span>;
  return (
    <NativeSelect
      size="xs"
      aria-label={`Role of ${member.email}`}
      data={[...new Set([...grantableRoles(me), member.role])]}
      value={member.role}
      disabled={change.isPending}
      onChange={({ currentTarget }) =>
        change.mutate({ ...pathOf(member), body: { role: currentTarget.value as GrantableRole } })
      }
    />
  );
};

const MemberActions = ({ member }: MemberProps) => {
  const { me, may } = useMe();
  const { session } = useApp();
  const api = useApi();
  const remove = api.useMutation('delete', '/members/{userId}', {
    onSuccess: ({ activeKeys }) =>
      notifyDone(
        activeKeys.length === 0
          ? `${member.email} removed.`
          : `${member.email} removed. Review ${plural(activeKeys.length, 'key')} of theirs: ${activeKeys.map(({ name }) => name).join(', ')}.`,
      ),
    onError: notifyProblem('The member was not removed'),
  });
  const transfer = api.useMutation('post', '/members/{userId}/transfer-ownership', {
    onError: notifyProblem('The ownership was not transferred'),
  });
  const leave = api.useMutation('post', '/members/leave', {
    onSuccess: () => session.end('signedOut'),
    onError: notifyProblem('You did not leave'),
  });
  const isMe = member.userId === me?.user.userId;
  const isOwner = member.role === 'owner';
  return (
    <Group gap="xs" justify="flex-end">
      {may('ownership:write') && !isMe && (
        <ConfirmButton
          color="teal"
          ask={{
            title: 'Transfer the ownership?',
            text: `${member.email} becomes the owner of the account. You become an admin.`,
            action: 'Transfer',
            onConfirm: () => transfer.mutate(pathOf(member)),
          }}
        >
          Make owner
        </ConfirmButton>
      )}
      {may('members:write') && !isOwner && !isMe && (
        <ConfirmButton
          ask={{
            title: 'Remove this member?',
            text: `${member.email} loses access within a minute. Service keys they made stay active.`,
            action: 'Remove',
            onConfirm: () => remove.mutate(pathOf(member)),
          }}
        >
          Remove
        </ConfirmButton>
      )}
      {isMe && !isOwner && (
        <ConfirmButton
          ask={{
            title: 'Leave the account?',
            text: 'You lose access within a minute. To come back you need an invitation.',
            action: 'Leave',
            onConfirm: () => leave.mutate({}),
          }}
        >
          Leave
        </ConfirmButton>
      )}
    </Group>
  );
};

const memberColumns: readonly Column<Member>[] = [
  { head: 'Member', cell: (member) => <Who member={member} /> },
  { head: 'Role', cell: (member) => <MemberRole member={member} /> },
  { head: 'Since', className: 'wide-only', cell: ({ createdAt }) => <Instant iso={createdAt} /> },
  { head: 'Actions', className: 'right', cell: (member) => <MemberActions member={member} /> },
];

const InvitationActions = ({ invitation: { id, email } }: { readonly invitation: Invitation }) => {
  const { may } = useMe();
  const api = useApi();
  const path = { params: { path: { id } } };
  const resend = api.useMutation('post', '/invitations/{id}/resend', {
    onSuccess: () => notifyDone(`Another link is on its way to ${email}. The former one stops working.`),
    onError: notifyProblem('The invitation was not sent'),
  });
  const revoke = api.useMutation('delete', '/invitations/{id}', {
    onError: notifyProblem('The invitation was not revoked'),
  });
  if (!may('members:write')) return null;
  return (
    <Group gap="xs" justify="flex-end">
      <Button size="compact-xs" variant="subtle" loading={resend.isPending} onClick={() => resend.mutate(path)}>
        Send again
      </Button>
      <Button
        size="compact-xs"
        variant="subtle"
        color="red"
        loading={revoke.isPending}
        onClick={() => revoke.mutate(path)}
      >
        Revoke
      </Button>
    </Group>
  );
};

const invitationColumns: readonly Column<Invitation>[] = [
  { head: 'Invited', cell: ({ email }) => email },
  { head: 'Role', cell: ({ role }) => role },
  {
    head: 'Valid',
    className: 'wide-only',
    cell: ({ status, validUntil }) =>
      status === 'expired' ? (
        <Badge variant="default" color="gray" tt="none">
          expired
        </Badge>
      ) : (
        <>
          until <Instant iso={validUntil} />
        </>
      ),
  },
  { head: 'Actions', className: 'right', cell: (invitation) => <InvitationActions invitation={invitation} /> },
];

export const Members = () => {
  const api = useApi();
  const { may } = useMe();
  const query = api.useQuery('get', '/members');
  const { data: invitations } = api.useQuery('get', '/invitations');
  const [inviting, setInviting] = useState(false);
  return (
    <ListPage
      title="Members"
      about="Who belongs to the account, and what they may do."
      actions={
        may('members:write') && (
          <Button leftSection={<UserPlus size={16} />} onClick={() => setInviting(true)}>
            Invite
          </Button>
        )
      }
      query={query}
      things="members"
    >
      <Table
        label="Members"
        columns={memberColumns}
        items={query.data?.items}
        error={query.error}
        keyOf={({ userId }) => userId}
      />
      {invitations && invitations.items.length > 0 && (
        <Table label="Invitations" columns={invitationColumns} items={invitations.items} keyOf={({ id }) => id} />
      )}
      <Modal opened={inviting} onClose={() => setInviting(false)} title="Invite somebody">
        <Invite onClose={() => setInviting(false)} />
      </Modal>
    </ListPage>
  );
};

import { Badge, Button, Group, Modal, NativeSelect, Skeleton, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQueryClient } from '@tanstack/react-query';
import { UserPlus } from 'lucide-react';
import { useState } from 'react';
import type { Invitation, Member } from '../api/responses.ts';
import { useApi, useApp } from '../app.ts';
import { Instant } from '../components/amount.tsx';
import { Confirm, type Question } from '../components/confirm.tsx';
import { ListPage } from '../components/list-page.tsx';
import { notifyDone, notifyProblem } from '../components/notify.ts';
import { ProblemNote } from '../components/problem-note.tsx';
import { plural } from '../format/quantity.ts';
import { emailProblem, fieldErrors } from '../forms/fields.ts';
import { useMe } from '../session/permissions.ts';
import { type GrantableRole, grantableRoles, roleOptions, roleTexts } from './roles.ts';

const useReloadMembers = () => {
  const queryClient = useQueryClient();
  return () =>
    Promise.all(
      ['/members', '/invitations', '/auth/me'].map((path) =>
        queryClient.invalidateQueries({ queryKey: ['get', path] }),
      ),
    );
};

const Invite = ({ onClose }: { readonly onClose: () => void }) => {
  const { me } = useMe();
  const reload = useReloadMembers();
  const form = useForm({
    initialValues: { email: '', role: 'member' as GrantableRole },
    validate: { email: emailProblem },
  });
  const invite = useApi().useMutation('post', '/invitations', {
    onSuccess: ({ email }) => {
      notifyDone(`An invitation is on its way to ${email}.`);
      onClose();
    },
    onError: (error) => form.setErrors(fieldErrors(error, 'email')),
    // An invitation whose mail failed is there, too.
    onSettled: () => reload(),
  });
  return (
    <form noValidate onSubmit={form.onSubmit((body) => invite.mutate({ body }))}>
      <Stack>
        {invite.isError && <ProblemNote error={invite.error} title="The invitation was not sent" />}
        <TextInput label="E-mail" type="email" data-autofocus {...form.getInputProps('email')} />
        <NativeSelect label="Role" data={roleOptions(me)} {...form.getInputProps('role')} />
        <Button type="submit" loading={invite.isPending}>
          Send the invitation
        </Button>
      </Stack>
    </form>
  );
};

const MemberRow = ({ member, onAsk }: { readonly member: Member; readonly onAsk: (question: Question) => void }) => {
  const { me, may } = useMe();
  const { session } = useApp();
  const api = useApi();
  const reload = useReloadMembers();
  const change = api.useMutation('patch', '/members/{userId}', {
    onError: notifyProblem('The role was not changed'),
    onSettled: () => reload(),
  });
  const remove = api.useMutation('delete', '/members/{userId}', {
    onSuccess: ({ activeKeys }) => {
      notifyDone(
        activeKeys.length === 0
          ? `${member.email} removed.`
          : `${member.email} removed. Review ${plural(activeKeys.length, 'key')} of theirs: ${activeKeys.map(({ name }) => name).join(', ')}.`,
      );
      return reload();
    },
    onError: notifyProblem('The member was not removed'),
  });
  const transfer = api.useMutation('post', '/members/{userId}/transfer-ownership', {
    onSuccess: () => reload(),
    onError: notifyProblem('The ownership was not transferred'),
  });
  const leave = api.useMutation('post', '/members/leave', {
    onSuccess: () => session.end('signedOut'),
    onError: notifyProblem('You did not leave'),
  });
  const path = { params: { path: { userId: member.userId } } };
  const isMe = member.userId === me?.user.userId;
  const isOwner = member.role === 'owner';
  return (
    <tr>
      <td>
        <span>
          {member.firstName} {member.lastName} {isMe && <span className="dim small">(you)</span>}
        </span>
        <br />
        <span className="dim small" style={{ overflowWrap: 'anywhere' }}>
          {member.email}
        </span>
      </td>
      <td>
        {may('members:write') && !isOwner ? (
          <NativeSelect
            size="xs"
            aria-label={`Role of ${member.email}`}
            data={[...new Set([...grantableRoles(me), member.role])]}
            value={member.role}
            disabled={change.isPending}
            onChange={({ currentTarget }) =>
              change.mutate({ ...path, body: { role: currentTarget.value as GrantableRole } })
            }
          />
        ) : (
          <span title={roleTexts[member.role]}>{member.role}</span>
        )}
      </td>
      <td className="wide-only">
        <Instant iso={member.createdAt} />
      </td>
      <td className="right">
        <Group gap="xs" justify="flex-end">
          {may('ownership:write') && !isMe && (
            <Button
              size="compact-xs"
              variant="subtle"
              onClick={() =>
                onAsk({
                  title: 'Transfer the ownership?',
                  text: `${member.email} becomes the owner of the account. You become an admin.`,
                  action: 'Transfer',
                  onConfirm: () => transfer.mutate(path),
                })
              }
            >
              Make owner
            </Button>
          )}
          {may('members:write') && !isOwner && !isMe && (
            <Button
              size="compact-xs"
              variant="subtle"
              color="red"
              onClick={() =>
                onAsk({
                  title: 'Remove this member?',
                  text: `${member.email} loses access within a minute. Service keys they made stay active.`,
                  action: 'Remove',
                  onConfirm: () => remove.mutate(path),
                })
              }
            >
              Remove
            </Button>
          )}
          {isMe && !isOwner && (
            <Button
              size="compact-xs"
              variant="subtle"
              color="red"
              onClick={() =>
                onAsk({
                  title: 'Leave the account?',
                  text: 'You lose access within a minute. To come back you need an invitation.',
                  action: 'Leave',
                  onConfirm: () => leave.mutate({}),
                })
              }
            >
              Leave
            </Button>
          )}
        </Group>
      </td>
    </tr>
  );
};

const InvitationRow = ({ invitation }: { readonly invitation: Invitation }) => {
  const { may } = useMe();
  const api = useApi();
  const reload = useReloadMembers();
  const path = { params: { path: { id: invitation.id } } };
  const resend = api.useMutation('post', '/invitations/{id}/resend', {
    onSuccess: () => notifyDone(`Another link is on its way to ${invitation.email}. The former one stops working.`),
    onError: notifyProblem('The invitation was not sent'),
    onSettled: () => reload(),
  });
  const revoke = api.useMutation('delete', '/invitations/{id}', {
    onError: notifyProblem('The invitation was not revoked'),
    onSettled: () => reload(),
  });
  return (
    <tr>
      <td>{invitation.email}</td>
      <td>{invitation.role}</td>
      <td className="wide-only">
        {invitation.status === 'expired' ? (
          <Badge variant="default" color="gray" tt="none">
            expired
          </Badge>
        ) : (
          <>
            until <Instant iso={invitation.validUntil} />
          </>
        )}
      </td>
      <td className="right">
        {may('members:write') && (
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
        )}
      </td>
    </tr>
  );
};

export const Members = () => {
  const api = useApi();
  const { may } = useMe();
  const query = api.useQuery('get', '/members');
  const { data, error } = query;
  const { data: invitations } = api.useQuery('get', '/invitations');
  const [inviting, setInviting] = useState(false);
  const [asking, setAsking] = useState<Question>();
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
      skeleton={null}
    >
      {(!error || data) && (
        <section className="card scroll-x" aria-label="Members">
          <table className="grid-table">
            <thead>
              <tr>
                <th>Member</th>
                <th>Role</th>
                <th className="wide-only">Since</th>
                <th className="right">Actions</th>
              </tr>
            </thead>
            <tbody>
              {data ? (
                data.items.map((member) => <MemberRow key={member.userId} member={member} onAsk={setAsking} />)
              ) : (
                <tr>
                  <td colSpan={4}>
                    <Skeleton height={38} />
                  </td>
                </tr>
              )}
            </tbody>
          </table>
        </section>
      )}
      {invitations && invitations.items.length > 0 && (
        <section className="card scroll-x" aria-label="Invitations">
          <table className="grid-table">
            <thead>
              <tr>
                <th>Invited</th>
                <th>Role</th>
                <th className="wide-only">Valid</th>
                <th className="right">Actions</th>
              </tr>
            </thead>
            <tbody>
              {invitations.items.map((invitation) => (
                <InvitationRow key={invitation.id} invitation={invitation} />
              ))}
            </tbody>
          </table>
        </section>
      )}
      <Modal opened={inviting} onClose={() => setInviting(false)} title="Invite somebody">
        <Invite onClose={() => setInviting(false)} />
      </Modal>
      <Confirm question={asking} onClose={() => setAsking(undefined)} />
    </ListPage>
  );
};

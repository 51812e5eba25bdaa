import { Badge, Box, Checkbox, Group, NativeSelect, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { UserPlus } from 'lucide-react';
import { useState } from 'react';
import type { Invitation, Member } from '../api/responses.ts';
import { notifyDone, useApi, useApp, useMe } from '../app.ts';
import { Instant } from '../components/amount.tsx';
import { ActButton, Decision, DialogButton } from '../components/buttons.tsx';
import { ListPage, LoadProblem } from '../components/page.tsx';
import { actions, type Column, Table, TwoLines } from '../components/table.tsx';
import { plural } from '../format/numbers.ts';
import { SubmitForm } from '../forms/submit-form.tsx';
import { useMemberChoices } from '../scope/scope-fields.tsx';
import { useKeyNames } from '../spend/use-key-names.ts';
import { Invite, mayHaveProjects, ProjectsField } from './invite.tsx';
import { type GrantableRole, grantableRoles, roleTexts } from './roles.ts';

interface MemberProps {
  readonly member: Member;
}

const pathOf = ({ userId }: Member) => ({ params: { path: { userId } } });

/** A mail address that takes two lines has the @ at the end of the first. */
const Address = ({ of }: { readonly of: string }) => {
  const [person, host] = of.split('@');
  return (
    <>
      {person}@<wbr />
      {host}
    </>
  );
};

const Who = ({ member: { userId, firstName, lastName, email } }: MemberProps) => {
  const { me } = useMe();
  return (
    <TwoLines second={<Address of={email} />}>
      {firstName} {lastName} {userId === me?.user.userId && <span className="dim small">(you)</span>}
    </TwoLines>
  );
};

type EndedTokens = readonly { readonly name: string; readonly isRevoked: boolean }[];

const namesText = (items: readonly { readonly name: string }[]): string => items.map(({ name }) => name).join(', ');

/** Says what happened to a member, and to the tokens that they made. @param left what else of them is in use */
const notifyEnded = (done: string, tokens: EndedTokens, left: readonly { readonly name: string }[] = []) => {
  const revoked = tokens.filter(({ isRevoked }) => isRevoked);
  const inUse = [...left, ...tokens.filter(({ isRevoked }) => !isRevoked)];
  const texts = [
    done,
    revoked.length > 0 && `Tokens revoked: ${namesText(revoked)}.`,
    inUse.length > 0 && `Still in use: ${namesText(inUse)}.`,
  ];
  notifyDone(texts.filter(Boolean).join(' '));
};

const MemberRole = ({ member }: MemberProps) => {
  const { me, may } = useMe();
  const change = useApi().useMutation('patch', '/members/{userId}', {
    onSuccess: ({ tokens }) => {
      if (tokens.length > 0) notifyEnded(`${member.email} is ${member.role} no more.`, tokens);
    },
    meta: { failure: 'The role was not changed' },
  });
  if (!may('members:write') || member.role === 'owner')
    return <span title={roleTexts[member.role]}>{member.role}</span>;
  return (
    <NativeSelect
      size="xs"
      miw={110}
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

const ChangeProjects = ({ member, onClose }: MemberProps & { readonly onClose: () => void }) => {
  const form = useForm({ initialValues: { projects: [...(member.projects ?? [])] } });
  const change = useApi().useMutation('patch', '/members/{userId}', {
    onSuccess: ({ tokens }) => {
      if (tokens.length > 0) notifyEnded(`The projects of ${member.email} are changed.`, tokens);
      onClose();
    },
  });
  return (
    <SubmitForm
      form={form}
      request={change}
      sent={({ projects }) => ({ ...pathOf(member), body: { projects: projects.length > 0 ? projects : null } })}
      failure="The projects were not changed"
      submit="Save"
    >
      <ProjectsField {...form.getInputProps('projects')} />
    </SubmitForm>
  );
};

const ProjectNames = ({ ids }: { readonly ids: readonly string[] | null }) => {
  const names = useKeyNames();
  return ids === null ? <span className="dim">all</span> : ids.map((id) => names.get(id) ?? id).join(', ');
};

/** Asks what becomes of the keys and tokens that a member made, then removes the member. */
const Remove = ({ member, onClose }: MemberProps & { readonly onClose: () => void }) => {
  const api = useApi();
  const { may } = useMe();
  const keys = api.useQuery('get', '/keys');
  const tokens = api.useQuery('get', '/tokens', {}, { enabled: may('tokens:read') });
  const others = useMemberChoices().filter(({ value }) => value !== member.userId);
  const [keysBecome, setKeysBecome] = useState('keep');
  const [revokesTokens, setRevokesTokens] = useState(true);
  const ownKeys = keys.data?.items.filter((key) => key.ownerUserId === member.userId && key.status === 'active');
  const ownTokens = tokens.data?.items.filter(({ createdBy }) => createdBy === member.userId);
  const remove = api.useMutation('delete', '/members/{userId}', {
    onSuccess: ({ activeKeys, tokens: ended }) => {
      notifyEnded(`${member.email} removed.`, ended, activeKeys);
      onClose();
    },
    meta: { failure: 'The member was not removed' },
  });
  // Until it is known what the member made, nobody can say what becomes of it.
  const isPending = remove.isPending || keys.isLoading || tokens.isLoading;
  const send = () => {
    const becomes =
      keysBecome === 'keep' || keysBecome === 'revoke'
        ? ({ keys: keysBecome } as const)
        : ({ keys: 'hand-over', to: keysBecome } as const);
    const query = { revokeTokens: revokesTokens ? 'true' : 'false', ...becomes } as const;
    remove.mutate({ params: { ...pathOf(member).params, query } });
  };
  return (
    <Stack>
      <Text size="sm">{member.email} loses access within a minute.</Text>
      <LoadProblem query={tokens} title="Their API tokens could not be loaded: all are revoked" />
      <LoadProblem query={keys} title="Their keys could not be loaded: all stay active" />
      {ownTokens && ownTokens.length > 0 && (
        <Checkbox
          label={`Revoke ${plural(ownTokens.length, 'API token')} they made`}
          description={namesText(ownTokens)}
          checked={revokesTokens}
          onChange={({ currentTarget }) => setRevokesTokens(currentTarget.checked)}
        />
      )}
      {ownKeys && ownKeys.length > 0 && (
        <NativeSelect
          label={`Their ${plural(ownKeys.length, 'service key')}`}
          description={`${namesText(ownKeys)}. What they spent stays under ${member.email}. Pauses, access rules and limits of one key do not follow it to another member.`}
          value={keysBecome}
          onChange={({ currentTarget }) => setKeysBecome(currentTarget.value)}
          data={[
            { value: 'keep', label: 'Stay active, for nobody to change but admins' },
            { value: 'revoke', label: 'Revoke them: traffic that uses them stops' },
            ...others.map((other) => ({ ...other, label: `Hand over to ${other.label}` })),
          ]}
        />
      )}
      <Decision action="Remove" isPending={isPending} onConfirm={send} onClose={onClose} />
    </Stack>
  );
};

const MemberActions = ({ member }: MemberProps) => {
  const { me, may } = useMe();
  const { session } = useApp();
  const api = useApi();
  const transfer = api.useMutation('post', '/members/{userId}/transfer-ownership', {
    onSuccess: ({ tokens }) => notifyEnded(`${member.email} is the owner.`, tokens),
    meta: { failure: 'The ownership was not transferred' },
  });
  const leave = api.useMutation('post', '/members/leave', {
    onSuccess: () => session.end('signedOut'),
    meta: { failure: 'You did not leave' },
  });
  const isMe = member.userId === me?.user.userId;
  const isOwner = member.role === 'owner';
  return (
    <Group gap="xs" justify="flex-end">
      {may('ownership:write') && !isMe && (
        <ActButton
          color="teal"
          label="Make owner"
          aria-label={`Make owner: ${member.email}`}
          act={transfer}
          sent={pathOf(member)}
          ask={{
            title: 'Transfer the ownership?',
            text: `${member.email} becomes the owner of the account. You become an admin. API tokens that you made and that may pay are revoked.`,
            action: 'Transfer',
          }}
        />
      )}
      {may('members:write') && !isOwner && !isMe && (
        <DialogButton
          size="compact-xs"
          variant="subtle"
          color="red"
          label="Remove"
          aria-label={`Remove ${member.email}`}
          title="Remove this member?"
        >
          {(close) => <Remove member={member} onClose={close} />}
        </DialogButton>
      )}
      {isMe && !isOwner && (
        <ActButton
          label="Leave"
          act={leave}
          sent={{}}
          ask={{
            title: 'Leave the account?',
            text: 'You lose access within a minute, and API tokens that you made are revoked. To come back you need an invitation.',
            action: 'Leave',
          }}
        />
      )}
    </Group>
  );
};

const memberColumns: readonly Column<Member>[] = [
  {
    head: 'Member',
    cell: (member) => (
      <Box miw={136}>
        <Who member={member} />
        <div className="narrow-only">
          <MemberRole member={member} />
        </div>
      </Box>
    ),
  },
  { head: 'Role', className: 'wide-only', cell: (member) => <MemberRole member={member} /> },
  {
    head: 'Projects',
    className: 'wide-only named',
    cell: (member) => (
      <>
        <ProjectNames ids={member.projects} />
        {mayHaveProjects(member.role) && (
          <DialogButton
            needs="members:write"
            ml={4}
            size="compact-xs"
            variant="subtle"
            label="Change"
            aria-label={`Change the projects of ${member.email}`}
            title={`Projects of ${member.email}`}
          >
            {(close) => <ChangeProjects member={member} onClose={close} />}
          </DialogButton>
        )}
      </>
    ),
  },
  { head: 'Since', className: 'wide-only', cell: ({ createdAt }) => <Instant day iso={createdAt} /> },
  actions('members:read', (member) => <MemberActions member={member} />),
];

const InvitationActions = ({ invitation: { id, email } }: { readonly invitation: Invitation }) => {
  const api = useApi();
  const shown = { needs: 'members:write', sent: { params: { path: { id } } } } as const;
  const resend = api.useMutation('post', '/invitations/{id}/resend', {
    meta: {
      done: `Another link is on its way to ${email}. The former one stops working.`,
      failure: 'The invitation was not sent',
    },
  });
  const revoke = api.useMutation('delete', '/invitations/{id}', {
    meta: { failure: 'The invitation was not revoked' },
  });
  return (
    <Group gap="xs" justify="flex-end">
      <ActButton {...shown} label="Send again" aria-label={`Send again to ${email}`} act={resend} />
      <ActButton {...shown} label="Revoke" aria-label={`Revoke ${email}`} color="red" act={revoke} />
    </Group>
  );
};

const invitationColumns: readonly Column<Invitation>[] = [
  {
    head: 'Invited',
    cell: ({ email, role }) => (
      <Box miw={136}>
        <Address of={email} />
        <div className="dim small narrow-only">{role}</div>
      </Box>
    ),
  },
  { head: 'Role', className: 'wide-only', cell: ({ role }) => role },
  { head: 'Projects', className: 'wide-only named', cell: ({ projects }) => <ProjectNames ids={projects} /> },
  {
    head: 'Valid',
    className: 'wide-only',
    cell: ({ status, validUntil }) =>
      status === 'expired' ? (
        <Badge variant="default">expired</Badge>
      ) : (
        <>
          until <Instant iso={validUntil} />
        </>
      ),
  },
  actions('members:write', (invitation) => <InvitationActions invitation={invitation} />),
];

export const Members = () => {
  const api = useApi();
  const query = api.useQuery('get', '/members');
  const invitations = api.useQuery('get', '/invitations');
  return (
    <ListPage
      title="Members"
      about="Who belongs to the account, and what they may do."
      actions={
        <DialogButton needs="members:write" leftSection={<UserPlus size={16} />} label="Invite" title="Invite people">
          {(close) => <Invite onClose={close} />}
        </DialogButton>
      }
      query={query}
    >
      <Table
        label="Members"
        columns={memberColumns}
        query={query}
        keyOf={({ userId }) => userId}
        textOf={({ firstName, lastName, email, role }) => `${firstName} ${lastName} ${email} ${role}`}
      />
      <LoadProblem query={invitations} title="The invitations could not be loaded" />
      {invitations.data && invitations.data.items.length > 0 && (
        <Table label="Invitations" columns={invitationColumns} query={invitations} textOf={({ email }) => email} />
      )}
    </ListPage>
  );
};

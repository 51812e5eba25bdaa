import { Alert, Button, Group, Modal, NativeSelect, Progress, Skeleton, Stack, Switch, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDisclosure } from '@mantine/hooks';
import type { UseMutationResult } from '@tanstack/react-query';
import { useState } from 'react';
import { Credentials, credentialsOf } from '../account/credentials.tsx';
import type { Archive, SignOnSettings } from '../api/responses.ts';
import { useApi, useMe } from '../app.ts';
import { Instant } from '../components/amount.tsx';
import { ActButton, Cancel } from '../components/buttons.tsx';
import { Loaded, Page, Section, TextLink } from '../components/page.tsx';
import { formatBytes } from '../format/numbers.ts';
import { formatShortInstant } from '../format/time.ts';
import { nextStep, SubmitForm } from '../forms/submit-form.tsx';
import { mayHaveProjects, ProjectsField } from '../members/invite.tsx';
import { roleOptions } from '../members/roles.ts';

interface Change<Body> {
  /** Body of the request, without the proof; undefined where nothing is asked. */
  readonly asked: NoInfer<Body> | undefined;
  readonly title: string;
  /** Effect, in a sentence or more. */
  readonly text: string;
  readonly action: string;
  readonly isDangerous?: boolean;
  /** Heading of an error. */
  readonly failure: string;
  readonly request: Pick<UseMutationResult<unknown, unknown, { body: Body }>, 'mutate' | 'error' | 'isPending'>;
  readonly onClose: () => void;
}

const Ask = <Body,>({ asked, text, action, isDangerous = false, failure, request, onClose }: Change<Body>) => {
  const { me } = useMe();
  const form = useForm({ initialValues: { password: '', totp: '' } });
  return (
    <SubmitForm
      form={form}
      request={request}
      sent={(values) => ({ body: { ...asked, ...(values.password !== '' && credentialsOf(values)) } as Body })}
      failure={failure}
      submit={action}
      color={isDangerous ? 'red' : undefined}
      otherButtons={<Cancel onClick={onClose} />}
      intro={<Text size="sm">{text}</Text>}
    >
      <Credentials label="Your password" asksForCode={me?.user.totpEnabled ?? false} inputProps={form.getInputProps} />
      <p className="dim small">Leave it empty if you sign in at an identity provider, and sign in again just before.</p>
    </SubmitForm>
  );
};

/** Asks for the password, and the code of the second factor, before a change that a stolen session must not make. */
const ProveIdentity = <Body,>(change: Change<Body>) => (
  <Modal opened={change.asked !== undefined} onClose={change.onClose} title={change.title}>
    <Ask {...change} />
  </Modal>
);

const SignOnForm = ({ settings, provider }: { readonly settings: SignOnSettings; readonly provider: string }) => {
  const { me } = useMe();
  const form = useForm({
    initialValues: {
      isOn: settings.provider !== null,
      defaultRole: settings.defaultRole,
      defaultProjects: [...(settings.defaultProjects ?? [])],
      isRequired: settings.isRequired,
    },
  });
  const [asked, setAsked] = useState<typeof form.values>();
  const change = useApi().useMutation('patch', '/sign-on', {
    onSuccess: () => {
      setAsked(undefined);
      form.resetDirty();
    },
    meta: { done: 'Single sign-on is changed.' },
  });
  const { isOn } = form.values;
  const changes = ({ defaultRole, defaultProjects: projects, isRequired }: typeof form.values) => {
    const defaultProjects = mayHaveProjects(defaultRole) && projects.length > 0 ? projects : null;
    return isOn ? { provider, defaultRole, defaultProjects, isRequired } : { provider: null, isRequired: false };
  };
  return (
    <>
      <SubmitForm
        form={form}
        request={nextStep(setAsked)}
        sent={(values) => values}
        submit="Save"
        disabled={!form.isDirty()}
        otherButtons={null}
      >
        <Switch
          label={`Members sign in at ${provider}`}
          description={
            settings.domains.length === 0
              ? 'Whoever signs in there becomes a member.'
              : `Whoever has an address of ${settings.domains.join(', ')} and signs in there becomes a member.`
          }
          {...form.getInputProps('isOn', { type: 'checkbox' })}
        />
        {isOn && (
          <>
            <NativeSelect label="Role of new members" data={roleOptions(me)} {...form.getInputProps('defaultRole')} />
            {mayHaveProjects(form.values.defaultRole) && (
              <ProjectsField label="Projects of new members" {...form.getInputProps('defaultProjects')} />
            )}
            <Switch
              label="Refuse passwords"
              description="Sessions that began with a password end. You, the owner, can still use yours."
              {...form.getInputProps('isRequired', { type: 'checkbox' })}
            />
          </>
        )}
      </SubmitForm>
      <ProveIdentity
        asked={asked && changes(asked)}
        title="Change single sign-on?"
        text="It decides who gets in. The owner gets a mail."
        action="Change it"
        failure="Single sign-on was not changed"
        request={change}
        onClose={() => setAsked(undefined)}
      />
    </>
  );
};

const stateText = ({ provider, isRequired, defaultRole }: SignOnSettings): string => {
  if (provider === null) return 'It is off.';
  const passwords = isRequired ? 'Passwords are refused.' : 'Passwords work, too.';
  return `Members sign in at ${provider}. New members get the role ${defaultRole}. ${passwords}`;
};

const SignOn = () => {
  const { me, may } = useMe();
  const query = useApi().useQuery('get', '/sign-on');
  return (
    <Loaded query={query} title="The settings could not be loaded" height={44}>
      {(settings) => {
        const provider = settings.provider ?? settings.available;
        if (may('sign-on:write') && provider !== null)
          return <SignOnForm key={settings.provider} settings={settings} provider={provider} />;
        return (
          <Text size="sm">
            {stateText(settings)}{' '}
            {may('sign-on:write')
              ? 'There is no identity provider for the domain of your address: the operator of this deployment sets it up.'
              : me && 'The owner of the account changes this.'}
          </Text>
        );
      }}
    </Loaded>
  );
};

const POLL_MS = 5_000;

const ArchiveRow = ({ archive }: { readonly archive: Archive }) => {
  const { id, status, progress, requestedAt, bytes, availableUntil } = archive;
  const link = useApi().useMutation('post', '/account/archives/{id}/link', {
    onSuccess: ({ url }) => location.assign(url),
    meta: { failure: 'The archive could not be downloaded' },
  });
  return (
    <Group justify="space-between">
      <span className="small">
        Asked for <Instant iso={requestedAt} ago />
        {status === 'ready' && (
          <span className="dim">
            {` · ${formatBytes(bytes)}`}
            {availableUntil && ' · until '}
            {availableUntil && <Instant iso={availableUntil} />}
          </span>
        )}
        {status === 'failed' && <span className="unknown"> · failed: ask for another</span>}
      </span>
      {status === 'pending' && <Progress value={progress} w={160} aria-label={`${progress}% written`} />}
      {status === 'ready' && (
        <ActButton
          needs="account:write"
          size="compact-sm"
          variant="default"
          label="Download"
          aria-label={`Download the archive of ${formatShortInstant(requestedAt)}`}
          act={link}
          sent={{ params: { path: { id } } }}
        />
      )}
    </Group>
  );
};

/** Everything the account has, in one file. It is written in the background. */
const ExportData = () => {
  const { may } = useMe();
  const api = useApi();
  const query = api.useQuery(
    'get',
    '/account/archives',
    {},
    {
      refetchInterval: ({ state }) => (state.data?.items.some(({ status }) => status === 'pending') ? POLL_MS : false),
    },
  );
  const create = api.useMutation('post', '/account/archives', { meta: { failure: 'No archive was begun' } });
  const isPending = query.data?.items.some(({ status }) => status === 'pending') ?? false;
  return (
    <Stack>
      <Loaded query={query} title="The archives could not be loaded" height={44}>
        {({ items }) => items.map((archive) => <ArchiveRow key={archive.id} archive={archive} />)}
      </Loaded>
      {may('account:write') && (
        <Group>
          <ActButton size="sm" variant="default" disabled={isPending} label="Export all data" act={create} sent={{}} />
        </Group>
      )}
    </Stack>
  );
};

const DeleteAccount = () => {
  const { me, may } = useMe();
  const api = useApi();
  const [isAsking, { open, close }] = useDisclosure();
  const query = api.useQuery('get', '/account/deletion');
  const request = api.useMutation('post', '/account/deletion', { onSuccess: close });
  const cancel = api.useMutation('delete', '/account/deletion', {
    meta: { done: 'The account stays.', failure: 'The deletion was not cancelled' },
  });
  return (
    <Loaded query={query} title="The state of the deletion could not be loaded" height={44}>
      {({ deletion }) => (
        <Stack>
          {deletion && (
            <Alert color="red" title="This account will be deleted">
              {deletion.requestedBy} asked for it. Everything goes on <Instant iso={deletion.deletesAt} />.
            </Alert>
          )}
          {may('account:delete') ? (
            <Group>
              {deletion ? (
                <ActButton size="sm" variant="filled" label="Keep the account" act={cancel} sent={{}} />
              ) : (
                <Button color="red" variant="light" onClick={open}>
                  Delete the account
                </Button>
              )}
            </Group>
          ) : (
            me && !deletion && <Text size="sm">Only the owner can delete the account.</Text>
          )}
          <ProveIdentity
            asked={isAsking ? {} : undefined}
            title="Delete this account?"
            text="For seven days nothing changes and you can cancel. Then keys and tokens are refused, and members, records, sums and the subscription are deleted for good. You may want to export all data first."
            action="Delete the account"
            isDangerous
            failure="The account is not being deleted"
            request={request}
            onClose={close}
          />
        </Stack>
      )}
    </Loaded>
  );
};

/** Whether every member must have a second factor. Whoever turns it on needs one first. */
const RequireTotp = () => {
  const { me, may, query } = useMe();
  const [asked, setAsked] = useState<boolean>();
  const change = useApi().useMutation('patch', '/auth/account', { onSuccess: () => setAsked(undefined) });
  if (!me) return query.error ? null : <Skeleton height={44} />;
  const { requiresTotp } = me.account;
  const lacksOwn = !me.user.totpEnabled && !requiresTotp;
  return (
    <Stack gap="sm">
      <Switch
        label="Require it of every member"
        description="Members without one set it up when they next sign in. Those who use single sign-on do not need one here."
        checked={requiresTotp}
        disabled={!may('protections:write') || lacksOwn}
        onChange={({ currentTarget }) => setAsked(currentTarget.checked)}
      />
      {lacksOwn && may('protections:write') && (
        <p className="dim small">
          First <TextLink to="/profile">set up your own</TextLink>: you would lock yourself out.
        </p>
      )}
      <ProveIdentity
        asked={asked === undefined ? undefined : { requiresTotp: asked }}
        title={requiresTotp ? 'Require no second factor any more?' : 'Require a second factor?'}
        text={
          requiresTotp
            ? 'From then on members may sign in with the password alone. The owner gets a mail.'
            : 'Members without one set it up when they next sign in. The owner gets a mail.'
        }
        action={requiresTotp ? 'Require it no more' : 'Require it'}
        isDangerous={requiresTotp}
        failure="The setting was not changed"
        request={change}
        onClose={() => setAsked(undefined)}
      />
    </Stack>
  );
};

export const AccountSettings = () => (
  <Page title="Account settings" about="What holds for all members. Your own login is in your profile.">
    <Section title="Second factor" about="A code of an authenticator app as well as the password.">
      <RequireTotp />
    </Section>
    <Section title="Single sign-on" about="Members sign in at your company’s identity provider.">
      <SignOn />
    </Section>
    <Section title="Data" about="One file with all that the account has but secrets. It is there for seven days.">
      <ExportData />
    </Section>
    <Section title="Deletion" about="You can cancel it for seven days.">
      <DeleteAccount />
    </Section>
  </Page>
);

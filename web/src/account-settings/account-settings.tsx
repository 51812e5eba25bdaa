import { Alert, Button, Group, Progress, Skeleton, Stack, Switch, Text } from '@mantine/core';
import { useState } from 'react';
import type { Archive } from '../api/responses.ts';
import { useApi, useMe } from '../app.ts';
import { Instant } from '../components/amount.tsx';
import { ActButton } from '../components/buttons.tsx';
import { Loaded, LoadProblem, PageHead, Section, TextLink } from '../components/page.tsx';
import { formatBytes } from '../format/numbers.ts';
import { formatShortInstant } from '../format/time.ts';
import { ProveIdentity } from './prove-identity.tsx';
import { SignOn } from './sign-on.tsx';

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
  const { data } = query;
  const create = api.useMutation('post', '/account/archives', { meta: { failure: 'No archive was begun' } });
  const isPending = data?.items.some(({ status }) => status === 'pending') ?? false;
  return (
    <Stack>
      <LoadProblem query={query} title="The archives could not be loaded" />
      {data?.items.map((archive) => (
        <ArchiveRow key={archive.id} archive={archive} />
      ))}
      {may('account:write') && (
        <Group>
          <ActButton size="sm" variant="default" disabled={isPending} label="Export all data" act={create} sent={{}} />
        </Group>
      )}
    </Stack>
  );
};

/** The owner deletes the account, and cancels that within the grace. */
const DeleteAccount = () => {
  const { me, may } = useMe();
  const api = useApi();
  const [asking, setAsking] = useState(false);
  const query = api.useQuery('get', '/account/deletion');
  const request = api.useMutation('post', '/account/deletion', { onSuccess: () => setAsking(false) });
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
                <Button color="red" variant="light" onClick={() => setAsking(true)}>
                  Delete the account
                </Button>
              )}
            </Group>
          ) : (
            me && !deletion && <Text size="sm">Only the owner can delete the account.</Text>
          )}
          <ProveIdentity
            isOpen={asking}
            title="Delete this account?"
            text="For seven days nothing changes and you can cancel. Then keys and tokens are refused, and members, records, sums and the subscription are deleted for good. You may want to export all data first."
            action="Delete the account"
            isDangerous
            failure="The account is not being deleted"
            request={request}
            bodyOf={(proof) => proof}
            onClose={() => setAsking(false)}
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
        isOpen={asked !== undefined}
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
        bodyOf={(proof) => ({ requiresTotp: asked ?? requiresTotp, ...proof })}
        onClose={() => setAsked(undefined)}
      />
    </Stack>
  );
};

export const AccountSettings = () => (
  <div className="page">
    <PageHead title="Account settings" about="What holds for all members. Your own login is in your profile." />
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
  </div>
);

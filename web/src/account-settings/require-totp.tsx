import { Skeleton, Stack, Switch } from '@mantine/core';
import { useState } from 'react';
import { useApi, useMe } from '../app.ts';
import { TextLink } from '../components/links.tsx';
import { ProveIdentity } from './prove-identity.tsx';

/** Whether every member must have a second factor. Whoever turns it on needs one first. */
export const RequireTotp = () => {
  const { me, may } = useMe();
  const [asked, setAsked] = useState<boolean>();
  const change = useApi().useMutation('patch', '/auth/account', {
    onSuccess: () => setAsked(undefined),
  });
  if (!me) return <Skeleton height={44} />;
  const { requiresTotp } = me.account;
  const lacksOwn = !me.user.totpEnabled && !requiresTotp;
  return (
    <Stack gap="sm">
      <Switch
        withThumbIndicator={false}
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

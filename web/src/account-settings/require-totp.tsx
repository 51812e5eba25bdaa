import { Skeleton, Stack, Switch } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useApi } from '../app.ts';
import { AnchorLink } from '../components/links.tsx';
import { ProblemNote } from '../components/problem-note.tsx';
import { useMe } from '../session/permissions.ts';

/** Whether every member must have a second factor. Whoever turns it on needs one first. */
export const RequireTotp = () => {
  const { me, may } = useMe();
  const queryClient = useQueryClient();
  const change = useApi().useMutation('patch', '/auth/account', {
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['get', '/auth/me'] }),
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
        checked={change.isPending ? change.variables.body.requiresTotp : requiresTotp}
        disabled={!may('account:write') || lacksOwn}
        onChange={({ currentTarget }) => change.mutate({ body: { requiresTotp: currentTarget.checked } })}
      />
      {lacksOwn && may('account:write') && (
        <p className="dim small">
          First{' '}
          <AnchorLink to="/profile" underline="always" inherit>
            set up your own
          </AnchorLink>
          : you would lock yourself out.
        </p>
      )}
      {change.isError && <ProblemNote error={change.error} title="The setting was not changed" />}
    </Stack>
  );
};

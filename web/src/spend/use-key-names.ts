import { useMemo } from 'react';
import { useApi, useMe } from '../app.ts';
import type { KeyNames } from './groups.ts';

/**
 * Names of the account's service keys, including revoked ones, of its projects, and of its members for those who may see them.
 *
 * @param isWanted whether the page shows any of these: if not, they are not read
 */
export const useKeyNames = (isWanted = true): KeyNames => {
  const { data: keys } = useApi().useQuery('get', '/keys', {}, { enabled: isWanted });
  const { data: projects } = useApi().useQuery('get', '/projects', {}, { enabled: isWanted });
  const { me, may } = useMe();
  const { data: members } = useApi().useQuery('get', '/members', {}, { enabled: isWanted && may('members:read') });
  return useMemo(
    () =>
      new Map([
        ...[...(keys?.items ?? []), ...(projects?.items ?? [])].map(({ id, name }) => [id, name] as const),
        ...(me ? [[me.user.userId, me.user.email] as const] : []),
        ...(members?.items ?? []).map(({ userId, email }) => [userId, email] as const),
      ]),
    [keys, projects, members, me],
  );
};

import { useMemo } from 'react';
import { useApi } from '../app.ts';
import type { KeyNames } from './groups.ts';

/** Names of the account's service keys, including revoked ones, and of its projects. */
export const useKeyNames = (): KeyNames => {
  const { data: keys } = useApi().useQuery('get', '/keys');
  const { data: projects } = useApi().useQuery('get', '/projects');
  return useMemo(
    () => new Map([...(keys?.items ?? []), ...(projects?.items ?? [])].map(({ id, name }) => [id, name])),
    [keys, projects],
  );
};

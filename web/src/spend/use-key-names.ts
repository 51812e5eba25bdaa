import { useMemo } from 'react';
import { useApi } from '../app.ts';
import type { KeyNames } from './groups.ts';

/** Names of the account's service keys, including revoked ones. */
export const useKeyNames = (): KeyNames => {
  const { data } = useApi().useQuery('get', '/keys');
  return useMemo(() => new Map(data?.items.map(({ id, name }) => [id, name])), [data]);
};

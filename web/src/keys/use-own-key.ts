import { useApi } from '../app.ts';

const FOREVER = Number.POSITIVE_INFINITY;
export const PLACEHOLDER = 'YOUR_SERVICE_KEY';

/**
 * The key to write into snippets. The account's first key is its id, and so is known; others are shown once, when they are made.
 * Undefined while it is not known yet.
 */
export const useOwnKey = (): string | undefined => {
  const api = useApi();
  const { data: me } = api.useQuery('get', '/auth/me', {}, { staleTime: FOREVER });
  const { data: keys } = api.useQuery('get', '/keys');
  if (!me || !keys) return undefined;
  const { accountId } = me.account;
  const isActive = keys.items.some(({ status, maskedKey }) => {
    const [start = '', end = ''] = maskedKey.split('…');
    return status === 'active' && accountId.startsWith(start) && accountId.endsWith(end);
  });
  return isActive ? accountId : PLACEHOLDER;
};

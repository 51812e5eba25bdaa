import { useApi, useMe } from '../app.ts';
import { PLACEHOLDER } from '../providers/snippets.ts';

/**
 * The key to show in snippets: the account's first key, which the API returns as the account id, or a placeholder when that key
 * is revoked, not known, or not shown to the user's role. The other keys are shown only once. Undefined while loading.
 */
export const useOwnKey = (): string | undefined => {
  const { me, query } = useMe();
  const { data: keys, isError } = useApi().useQuery('get', '/keys');
  if (!me || !keys) return isError || query.isError ? PLACEHOLDER : undefined;
  const { accountId } = me.account;
  const isActive = keys.items.some(({ status, maskedKey }) => {
    const [start = '', end = ''] = maskedKey.split('…');
    return status === 'active' && accountId.startsWith(start) && accountId.endsWith(end);
  });
  // Roles that may not revoke it see it masked.
  return isActive && !accountId.includes('…') ? accountId : PLACEHOLDER;
};

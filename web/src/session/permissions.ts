import type { Me } from '../api/responses.ts';
import { useApi } from '../app.ts';

export type Permission = Me['user']['permissions'][number];

/** The signed-in user, the account, and whether the user's role has a permission. While it loads, the role has none. */
export const useMe = () => {
  const { data } = useApi().useQuery('get', '/auth/me', {}, { staleTime: Number.POSITIVE_INFINITY });
  return {
    me: data,
    may: (permission: Permission): boolean => data?.user.permissions.includes(permission) ?? false,
  };
};

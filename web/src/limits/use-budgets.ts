import { useApi } from '../app.ts';
import { useMe } from '../session/permissions.ts';

const REFRESH_MS = 60_000;

/** The account's budgets with what they have used, kept up to date. Empty for roles that may not read them. */
export const useBudgets = () => {
  const { may } = useMe();
  return useApi().useQuery('get', '/budgets', {}, { refetchInterval: REFRESH_MS, enabled: may('rules:read') });
};

import { useQueryClient } from '@tanstack/react-query';
import { useApi } from '../app.ts';
import { useMe } from '../session/permissions.ts';

const REFRESH_MS = 60_000;

/** The pauses in force. None for roles that may not read them. */
export const usePauses = () => {
  const { may } = useMe();
  return useApi().useQuery('get', '/pauses', {}, { refetchInterval: REFRESH_MS, enabled: may('rules:read') });
};

export const useReloadPauses = () => {
  const queryClient = useQueryClient();
  return () => queryClient.invalidateQueries({ queryKey: ['get', '/pauses'] });
};

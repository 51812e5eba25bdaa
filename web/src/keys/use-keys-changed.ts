import { useQueryClient } from '@tanstack/react-query';

/** Has the list of keys read anew. */
export const useKeysChanged = () => {
  const queryClient = useQueryClient();
  return () => queryClient.invalidateQueries({ queryKey: ['get', '/keys'] });
};

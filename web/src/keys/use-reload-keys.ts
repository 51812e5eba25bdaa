import { useQueryClient } from '@tanstack/react-query';

/** A function that reloads the list of keys. */
export const useReloadKeys = () => {
  const queryClient = useQueryClient();
  return () => queryClient.invalidateQueries({ queryKey: ['get', '/keys'] });
};

import { useQueryClient } from '@tanstack/react-query';

/** A function that reloads the lists of keys and projects, and the account key. */
export const useReloadKeys = () => {
  const queryClient = useQueryClient();
  return () =>
    Promise.all(
      ['/keys', '/projects', '/auth/me'].map((path) => queryClient.invalidateQueries({ queryKey: ['get', path] })),
    );
};

import { useQueryClient } from '@tanstack/react-query';

export const useReloadTokens = () => {
  const queryClient = useQueryClient();
  return () => queryClient.invalidateQueries({ queryKey: ['get', '/tokens'] });
};

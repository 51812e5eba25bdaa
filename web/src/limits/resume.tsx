import { Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import type { Pause } from '../api/responses.ts';
import { useApi } from '../app.ts';
import { notifyDone, notifyProblem } from '../components/notify.ts';
import { useMe } from '../session/permissions.ts';

/** Ends a pause, for those who may. */
export const Resume = ({ pause: { id, name } }: { readonly pause: Pause }) => {
  const { may } = useMe();
  const queryClient = useQueryClient();
  const end = useApi().useMutation('delete', '/pauses/{id}', {
    onSuccess: () => notifyDone(`${name} has ended. Requests pass again within seconds.`),
    onError: notifyProblem('The pause was not ended'),
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['get', '/pauses'] }),
  });
  if (!may('rules:write')) return null;
  return (
    <Button
      size="compact-xs"
      variant="default"
      aria-label={`Resume ${name}`}
      loading={end.isPending}
      onClick={() => end.mutate({ params: { path: { id } } })}
    >
      Resume
    </Button>
  );
};

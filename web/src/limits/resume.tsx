import { Button } from '@mantine/core';
import type { Pause } from '../api/responses.ts';
import { useApi, useMe } from '../app.ts';
import { notifyDone, notifyProblem } from '../components/notify.ts';

/** Ends a pause, for those who may. */
export const Resume = ({ pause: { id, name } }: { readonly pause: Pause }) => {
  const { may } = useMe();
  const end = useApi().useMutation('delete', '/pauses/{id}', {
    onSuccess: () => notifyDone(`${name} has ended. Requests pass again within seconds.`),
    onError: notifyProblem('The pause was not ended'),
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

import { Button } from '@mantine/core';
import type { Pause } from '../api/responses.ts';
import { useApi, useMe } from '../app.ts';

/** Ends a pause, for those who may. Without the buttons that ask: the bar on every page has it, and loads no dialog. */
export const Resume = ({ pause: { id, name } }: { readonly pause: Pause }) => {
  const { may } = useMe();
  const { mutate, isPending } = useApi().useMutation('delete', '/pauses/{id}', {
    meta: { done: `${name} has ended. Requests pass again within seconds.`, failure: 'The pause was not ended' },
  });
  const end = () => mutate({ params: { path: { id } } });
  if (!may('rules:write')) return null;
  return (
    <Button size="compact-xs" variant="default" aria-label={`Resume ${name}`} loading={isPending} onClick={end}>
      Resume
    </Button>
  );
};

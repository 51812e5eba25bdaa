import { type UseQueryResult, useQueryClient } from '@tanstack/react-query';
import { ProblemNote } from './problem-note.tsx';

interface LoadProblemProps {
  readonly query: Pick<UseQueryResult<unknown, unknown>, 'error' | 'data' | 'dataUpdatedAt' | 'fetchStatus'>;
  readonly title: string;
}

/** Why a page has no figures, or old ones, and how old they are. Nothing where all is well. */
export const LoadProblem = ({ query: { error, data, dataUpdatedAt, fetchStatus }, title }: LoadProblemProps) => {
  const queryClient = useQueryClient();
  // One click tries all again that failed on the page.
  const retry = () =>
    void queryClient.refetchQueries({ type: 'active', predicate: ({ state }) => state.status === 'error' });
  // Without a network the query waits for one, and then goes on by itself.
  const isOffline = fetchStatus === 'paused';
  if (!error && !isOffline) return null;
  return (
    <ProblemNote
      error={isOffline ? new TypeError('offline') : error}
      onRetry={isOffline ? undefined : retry}
      title={title}
      shownSinceMs={data === undefined ? 0 : dataUpdatedAt}
    />
  );
};

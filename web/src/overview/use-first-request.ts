import { useRef } from 'react';
import type { RequestSummary } from '../api/responses.ts';
import { useApi } from '../app.ts';

/** Poll intervals: short at first, longer later. A hidden tab does not poll. */
const FIRST_MS = 1_500;
const LONGEST_MS = 20_000;
const GROWTH = 1.15;

/** Polls until the account has a request, and returns it. */
export const useFirstRequest = (): { readonly request: RequestSummary | undefined; readonly error: unknown } => {
  const tries = useRef(0);
  const { data, error } = useApi().useQuery(
    'get',
    '/requests',
    { params: { query: { limit: 1 } } },
    {
      refetchInterval: ({ state }) => {
        if (state.data?.items[0]) return false;
        tries.current += 1;
        return Math.min(LONGEST_MS, FIRST_MS * GROWTH ** tries.current);
      },
      refetchIntervalInBackground: false,
      staleTime: 0,
    },
  );
  return { request: data?.items[0], error };
};

import { useInfiniteQuery } from '@tanstack/react-query';
import type { Alert, AlertsQuery, AuditEntry, AuditQuery, RequestSummary, RequestsQuery } from '../api/responses.ts';
import { useApp } from '../app.ts';

interface PagedLists {
  '/requests': { readonly query: RequestsQuery; readonly item: RequestSummary };
  '/alerts': { readonly query: AlertsQuery; readonly item: Alert };
  '/audit': { readonly query: AuditQuery; readonly item: AuditEntry };
}

interface Page<Item> {
  readonly items: readonly Item[];
  readonly nextCursor: string | null;
  /** From when on requests were examined, if their order is not that of time. */
  readonly examinedFrom?: string | null;
  /** Requests that no page shows. */
  readonly unreadableRequests?: number;
  /** The same of other lists. */
  readonly unreadable?: number;
}

/** Empty pages to skip before the user has to ask for more. */
const MAX_EMPTY_PAGES = 5;

/**
 * A list of the API, page by page. The API may send empty pages in between; they are skipped.
 *
 * @param refreshMs how often to reload that many loaded pages; false for never
 */
export const usePages = <Path extends keyof PagedLists>(
  path: Path,
  query: Omit<PagedLists[Path]['query'], 'cursor'>,
  refreshMs: (pages: number) => number | false = () => false,
) => {
  const { client } = useApp().api;
  const result = useInfiniteQuery({
    queryKey: ['get', path, 'pages', query],
    queryFn: async ({ pageParam, signal }) => {
      let cursor = pageParam;
      let unreadableRequests = 0;
      for (let empty = 0; ; empty++) {
        const params = { query: { ...query, ...(cursor !== undefined && { cursor }) } };
        const { data, error } = await client.GET(path as '/requests', {
          params: params as { query: RequestsQuery },
          signal,
        });
        if (error) throw error;
        const page = data as Page<PagedLists[Path]['item']>;
        unreadableRequests += page.unreadableRequests ?? 0;
        if (page.items.length > 0 || page.nextCursor === null || empty === MAX_EMPTY_PAGES)
          return { ...page, unreadableRequests };
        cursor = page.nextCursor;
      }
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
    refetchInterval: ({ state }) => refreshMs(state.data?.pages.length ?? 0),
  });
  const pages = result.data?.pages;
  const data = pages && {
    items: pages.flatMap((page) => page.items),
    examinedFrom: pages[0]?.examinedFrom,
    unreadableRequests: pages.reduce((sum, page) => sum + page.unreadableRequests, 0),
    unreadable: pages.reduce((sum, { unreadable = 0 }) => sum + unreadable, 0),
  };
  return { ...result, data, isEmpty: data?.items.length === 0 && !result.hasNextPage };
};

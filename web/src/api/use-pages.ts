import { useInfiniteQuery } from '@tanstack/react-query';
import { useApp } from '../app.ts';
import type { Alert, AlertsQuery, RequestSummary, RequestsQuery } from './responses.ts';

interface PagedLists {
  '/requests': { readonly query: RequestsQuery; readonly item: RequestSummary };
  '/alerts': { readonly query: AlertsQuery; readonly item: Alert };
}

interface Page<Item> {
  readonly items: readonly Item[];
  readonly nextCursor: string | null;
}

interface PagesOptions {
  /** Asks for the pages that are there again; the function is told how many. */
  readonly refreshMs?: (pages: number) => number | false;
}

/** Pages that may be empty before the search rests, and asks whether to go on. */
const EMPTY_READ_OVER = 5;

/** A list of the API, page after page; empty pages in between, which the API allows, are read over. */
export const usePages = <Path extends keyof PagedLists>(
  path: Path,
  query: Omit<PagedLists[Path]['query'], 'cursor'>,
  { refreshMs }: PagesOptions = {},
) => {
  const { client } = useApp().api;
  const result = useInfiniteQuery({
    queryKey: ['get', path, 'pages', query],
    queryFn: async ({ pageParam, signal }) => {
      let cursor = pageParam;
      for (let empty = 0; ; empty++) {
        const params = { query: { ...query, ...(cursor !== undefined && { cursor }) } };
        const { data, error } = await client.GET(path as '/requests', {
          params: params as { query: RequestsQuery },
          signal,
        });
        if (error) throw error;
        const page = data as Page<PagedLists[Path]['item']>;
        if (page.items.length > 0 || page.nextCursor === null || empty === EMPTY_READ_OVER) return page;
        cursor = page.nextCursor;
      }
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
    refetchInterval: ({ state }) => refreshMs?.(state.data?.pages.length ?? 0) ?? false,
  });
  const items = result.data?.pages.flatMap((page) => page.items);
  return { ...result, items: items ?? [], isEmpty: items?.length === 0 && !result.hasNextPage };
};

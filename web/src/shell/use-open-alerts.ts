import { useApi } from '../app.ts';

const MAX_COUNTED = 100;
const REFRESH_MS = 60_000;

/** The number of open alerts: `3`, `100+`; undefined for none, and while loading. */
export const useOpenAlerts = (): string | undefined => {
  const { data } = useApi().useQuery(
    'get',
    '/alerts',
    { params: { query: { status: 'triggered', limit: MAX_COUNTED } } },
    { refetchInterval: REFRESH_MS },
  );
  const count = data?.items.length ?? 0;
  if (count === 0) return undefined;
  return data?.nextCursor ? `${count}+` : String(count);
};

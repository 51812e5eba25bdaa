import { useApi } from '../app.ts';

const AT_MOST = 100;
const EVERY_MS = 60_000;

/** Alerts nobody has acknowledged: `3`, `100+`; undefined where there are none, or none known. */
export const useOpenAlerts = (): string | undefined => {
  const { data } = useApi().useQuery(
    'get',
    '/alerts',
    { params: { query: { status: 'triggered', limit: AT_MOST } } },
    { refetchInterval: EVERY_MS },
  );
  const count = data?.items.length ?? 0;
  if (count === 0) return undefined;
  return data?.nextCursor ? `${count}+` : String(count);
};

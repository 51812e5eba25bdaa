import { useApi } from '../app.ts';

const REFRESH_MS = 60_000;

/** The account's own prices and display currency. While months are priced again, the page follows. */
export const usePrices = () =>
  useApi().useQuery(
    'get',
    '/prices',
    {},
    { refetchInterval: ({ state }) => (state.data?.repricing ? REFRESH_MS / 6 : REFRESH_MS) },
  );

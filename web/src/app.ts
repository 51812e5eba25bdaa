import { QueryClient } from '@tanstack/react-query';
import { createContext, useContext } from 'react';
import { type Api, createApi } from './api/client.ts';
import { isTemporary } from './api/problem.ts';
import { createSession, type Session } from './api/session.ts';
import type { Settings } from './settings.ts';

/** What the views share, created once. */
export interface App {
  readonly settings: Settings;
  readonly session: Session;
  readonly api: Api;
  readonly queryClient: QueryClient;
}

const RETRIES = 2;

export const createApp = (settings: Settings): App => {
  const session = createSession({ apiUrl: settings.apiUrl, storage: sessionStorage, fetch: fetch.bind(window) });
  const queryClient = new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 20_000,
        // Without a network too: a query that waits for one would say nothing.
        networkMode: 'always',
        refetchOnReconnect: true,
        retry: (failures, error) => failures < RETRIES && isTemporary(error) && navigator.onLine,
      },
      mutations: { networkMode: 'always', retry: false },
    },
  });
  return { settings, session, api: createApi(settings.apiUrl, session), queryClient };
};

const AppContext = createContext<App | undefined>(undefined);
export const AppProvider = AppContext.Provider;

export const useApp = (): App => {
  const app = useContext(AppContext);
  if (!app) throw new Error('useApp is called outside AppProvider.');
  return app;
};

/** Queries and mutations of the dashboard API. */
export const useApi = () => useApp().api.query;

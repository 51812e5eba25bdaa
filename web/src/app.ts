import type { NotificationData } from '@mantine/notifications';
import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { createContext, useContext, useSyncExternalStore } from 'react';
import { MINUTE_MS } from '../../lambda/domain/calendar/units.ts';
import { type Api, createApi } from './api/client.ts';
import { detailsOf, isTemporary, problemOf, waitMs } from './api/problem.ts';
import type { Me } from './api/responses.ts';
import { createSession, type Session } from './api/session.ts';

/** The settings of a deployment, from the file config.json next to the pages. */
export interface Settings {
  /** The URL of the dashboard API, without a trailing slash; may be a path of this origin. */
  readonly apiUrl: string;
  /** The gateway's URL, with `{provider}` in place of the provider's label. */
  readonly gatewayUrl: string;
  /** True where mock providers replace the real ones: any provider credential works. */
  readonly mockProviders: boolean;
}

/** @throws Error when the file is missing or invalid */
export const loadSettings = async (cache?: RequestCache): Promise<Settings> => {
  const response = await fetch('/config.json', { credentials: 'same-origin', ...(cache && { cache }) });
  if (!response.ok) throw new Error(`config.json could not be loaded: HTTP status ${response.status}.`);
  const { apiUrl, gatewayUrl, mockProviders = false } = (await response.json()) as Partial<Settings>;
  if (apiUrl === undefined || gatewayUrl === undefined) throw new Error('config.json lacks apiUrl or gatewayUrl.');
  return { apiUrl, gatewayUrl, mockProviders };
};

/** Neither the file of a page nor anything else can be loaded. */
export class Unreachable extends Error {
  override readonly message = 'The dashboard cannot be reached. Check your network connection.';
}

/** Before the document is loaded again: that would end at the browser's own page while the server is out of reach. @throws Unreachable */
export const reachServer = () =>
  loadSettings('no-store').catch(() => {
    throw new Unreachable();
  });

export interface App {
  readonly settings: Settings;
  readonly session: Session;
  readonly api: Api;
  readonly queryClient: QueryClient;
}

const ME = '/auth/me';
const RETRIES = 2;
/** A page says that it waits where the API wants to be left alone for longer. */
const LONGEST_WAIT_MS = 6_000;

/** Other lists that a change makes old, by the first part of its path. */
const alsoChanged: Readonly<Record<string, readonly string[]>> = {
  'alert-rules': ['budgets'],
  bills: ['bill-connections', 'reconciliation'],
  'bill-connections': ['reconciliation'],
  budgets: ['alert-rules', 'own-limits', 'raises'],
  invitations: ['members', 'auth'],
  keys: ['projects', 'auth'],
  members: ['invitations', 'auth', 'keys', 'projects', 'tokens'],
  raises: ['budgets', 'own-limits'],
  tokens: ['auth'],
};

const firstPart = (path: unknown): string => String(path).split('/')[1] ?? '';

declare module '@tanstack/react-query' {
  interface Register {
    /** Messages of a change that has no place on the page for them. */
    mutationMeta: { readonly done?: string; readonly failure?: string };
  }
}

/**
 * A change reloads the queries that it makes old. The `onSuccess` of a mutation runs before that; that of a single call runs after it.
 */
export const createApp = (settings: Settings): App => {
  const session = createSession(settings.apiUrl);
  /** Where the API refuses what a page offers, the user's rights were changed: they are read once more, however much was refused. */
  const checkRights = (error: unknown) => {
    if (problemOf(error).code === 'FORBIDDEN')
      void queryClient.invalidateQueries({ queryKey: ['get', ME] }, { cancelRefetch: false });
  };
  const queryClient: QueryClient = new QueryClient({
    queryCache: new QueryCache({ onError: (error, { queryKey }) => queryKey[1] !== ME && checkRights(error) }),
    mutationCache: new MutationCache({
      onSuccess: (_data, _variables, _result, { meta }) => void (meta?.done && notifyDone(meta.done)),
      onError: (error, _variables, _result, { meta, options: { mutationKey } }) => {
        checkRights(error);
        // The dialog that would say so goes with its row. That of a new item stays.
        const isOfItem = String(mutationKey?.[1]).includes('{');
        const gone: Record<string, string> = { NOT_FOUND: 'It is not there any more', FORBIDDEN: 'It was refused' };
        const failure = meta?.failure ?? (isOfItem && session.isSignedIn() && gone[problemOf(error).code]);
        if (failure) notifyFailure(failure, [problemOf(error).message, ...detailsOf(error)].join(' '));
      },
      // All queries below `/keys` after one of `/keys/{id}/rotate`; after an error, too: what was deleted elsewhere must show as deleted.
      onSettled: (_data, error, _variables, _result, { options: { mutationKey } }) => {
        const changed = firstPart(mutationKey?.[1]);
        const old = new Set([changed, ...(alsoChanged[changed] ?? [])]);
        const reloaded = queryClient.invalidateQueries({ predicate: ({ queryKey: [, of] }) => old.has(firstPart(of)) });
        return error ? undefined : reloaded;
      },
    }),
    defaultOptions: {
      queries: {
        staleTime: 20_000,
        // Without a network too: a query that waits for one would say nothing.
        networkMode: 'always',
        refetchOnReconnect: true,
        retry: (failures, error) =>
          failures < RETRIES &&
          isTemporary(error) &&
          // It was waited for long enough.
          problemOf(error).code !== 'LATE' &&
          navigator.onLine &&
          waitMs(error) <= LONGEST_WAIT_MS,
        retryDelay: (failures, error) => Math.max(1000 * 2 ** failures, waitMs(error)),
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

export const useApi = () => useApp().api.query;

export type Permission = Me['user']['permissions'][number];

/** The signed-in user, the account, and whether the user's role has a permission. While it loads, the role has none. */
export const useMe = () => {
  const query = useApi().useQuery('get', ME, {}, { staleTime: MINUTE_MS });
  const { data: me } = query;
  return { me, query, may: (permission: Permission): boolean => me?.user.permissions.includes(permission) ?? false };
};

let isWanted = false;
const listeners = new Set<() => void>();

/** The library comes with the first notification: most visits have none. */
const show = async (notification: NotificationData) => {
  isWanted = true;
  for (const listener of listeners) listener();
  const { notifications } = await import('@mantine/notifications');
  notifications.show({ ...notification, closeButtonProps: { 'aria-label': 'Dismiss' } });
};

/** True from the first notification on: then the page needs a place for them. */
export const useHasNotifications = (): boolean =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => isWanted,
  );

export const notifyDone = (message: string) => void show({ message, color: 'teal', autoClose: 4000 });

/** Shows that something failed which has no place on the page for it. */
export const notifyFailure = (title: string, message: string | null) =>
  void show({ title, message, color: 'red', autoClose: 8000 });

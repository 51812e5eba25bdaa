import type { Tokens } from './responses.ts';

/**
 * The session of this tab.
 *
 * The token is only in memory. The refresh token is also in `sessionStorage`, so that a reload does not sign out; the browser
 * deletes it with the tab. A new tab (from a link in a mail, for example) asks the other tabs for it over a BroadcastChannel,
 * which only this origin can read; a late response still counts. Signing out ends the session in every tab, and the API revokes
 * the refresh token.
 */

type Message =
  | { readonly kind: 'wanted' }
  | { readonly kind: 'offered'; readonly refreshToken: string }
  | { readonly kind: 'ended' };

/** A changed password or address ends every session at the API. */
export type EndReason = 'signedOut' | 'expired' | 'passwordChanged' | 'emailChanged';

const STORAGE_KEY = 'refresh-token';
const USER_KEY = 'user';
/** How long a new tab waits for a response from another, which usually takes a few milliseconds. */
const HANDOVER_MS = 150;
/** How long before its expiry a token is renewed, so that none expires during a request. */
const EARLY_MS = 60_000;
/** API Gateway ends what takes longer than 29 s. The rest is for the way of a large upload. */
const LONGEST_MS = 60_000;

/** Fails where no response comes. Its body may take longer. */
export const fetchInTime = async (request: Request): Promise<Response> => {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new DOMException('No response came.', 'TimeoutError')), LONGEST_MS);
  const signal = AbortSignal.any([request.signal, late.signal]);
  return fetch(request, { signal }).finally(() => clearTimeout(timer));
};

export const createSession = (apiUrl: string) => {
  const channel = new BroadcastChannel('session');
  const listeners = new Set<(reason: EndReason) => void>();
  const beginListeners = new Set<() => void>();
  let token: { readonly value: string; readonly renewAt: number } | undefined;
  let wanted = false;
  let renewing: Promise<string | undefined> | undefined;

  const keep = ({ token: value, refreshToken, expiresIn, userId }: Tokens) => {
    // What another user left in this tab, such as half a form, is not for this one.
    if ((sessionStorage.getItem(USER_KEY) ?? userId) !== userId) sessionStorage.clear();
    sessionStorage.setItem(USER_KEY, userId);
    token = { value, renewAt: Date.now() + expiresIn * 1000 - EARLY_MS };
    sessionStorage.setItem(STORAGE_KEY, refreshToken);
    return value;
  };

  const forget = (reason: EndReason) => {
    wanted = false;
    const wasSignedIn = token !== undefined || sessionStorage.getItem(STORAGE_KEY) !== null;
    token = undefined;
    sessionStorage.removeItem(STORAGE_KEY);
    if (wasSignedIn) for (const listener of listeners) listener(reason);
  };

  /** Ignores offers unless this tab asked and is not signed in yet. */
  const takeOver = (refreshToken: string) => {
    if (!wanted || sessionStorage.getItem(STORAGE_KEY) !== null) return;
    wanted = false;
    sessionStorage.setItem(STORAGE_KEY, refreshToken);
    for (const listener of beginListeners) listener();
  };

  const end = (reason: EndReason) => {
    const refreshToken = sessionStorage.getItem(STORAGE_KEY);
    forget(reason);
    if (reason !== 'signedOut') return;
    channel.postMessage({ kind: 'ended' } satisfies Message);
    // Makes copies of the token useless. Signing out does not wait for it, so that it works while the API is down.
    if (refreshToken !== null) void post('/auth/logout', refreshToken, { keepalive: true }).catch(() => {});
  };

  const post = (path: string, refreshToken: string, options: RequestInit = {}) =>
    fetchInTime(
      new Request(`${apiUrl}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ refreshToken }),
        ...options,
      }),
    );

  channel.addEventListener('message', ({ data }: MessageEvent<Message>) => {
    const refreshToken = sessionStorage.getItem(STORAGE_KEY);
    if (data.kind === 'ended') forget('signedOut');
    else if (data.kind === 'offered') takeOver(data.refreshToken);
    else if (data.kind === 'wanted' && refreshToken !== null)
      channel.postMessage({ kind: 'offered', refreshToken } satisfies Message);
  });

  const renew = async (refreshToken: string): Promise<string | undefined> => {
    const response = await post('/auth/refresh', refreshToken);
    if (response.ok) return keep((await response.json()) as Tokens);
    // Other errors do not end the session: the API is down or busy, and the token may still be valid.
    if (response.status === 400 || response.status === 401) {
      end('expired');
      return undefined;
    }
    throw new TypeError(`The session could not be renewed (${response.status}).`);
  };

  /** A valid token; undefined when signed out. Concurrent callers share one renewal. */
  const currentToken = (): Promise<string | undefined> => {
    if (token && Date.now() < token.renewAt) return Promise.resolve(token.value);
    const refreshToken = sessionStorage.getItem(STORAGE_KEY);
    if (refreshToken === null) return Promise.resolve(undefined);
    renewing ??= renew(refreshToken).finally(() => {
      renewing = undefined;
    });
    return renewing;
  };

  return {
    /** After registration or sign-in. */
    begin: keep,
    end,
    currentToken,
    /** Drops a token that the API rejected; the next `currentToken` renews it. */
    discard(value: string) {
      if (token?.value === value) token = undefined;
    },
    isSignedIn: () => sessionStorage.getItem(STORAGE_KEY) !== null,
    /** Asks the other tabs for their session, and waits `HANDOVER_MS` for a response. */
    async restore(): Promise<void> {
      if (sessionStorage.getItem(STORAGE_KEY) !== null) return;
      wanted = true;
      const restored = new Promise<void>((resolve) => {
        beginListeners.add(resolve);
        setTimeout(resolve, HANDOVER_MS);
      });
      channel.postMessage({ kind: 'wanted' } satisfies Message);
      await restored;
    },
    /** A session came from another tab. */
    onTakenOver(listener: () => void) {
      beginListeners.add(listener);
    },
    onEnd(listener: (reason: EndReason) => void) {
      listeners.add(listener);
    },
  };
};

export type Session = ReturnType<typeof createSession>;

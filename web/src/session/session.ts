/**
 * Who is signed in, in this tab.
 *
 * The token lives in this module's memory alone. The refresh token is also in `sessionStorage`, so that a reload does not sign
 * out: it is this tab's, and gone with it. A tab opened beside a signed-in one (from a link in a mail, say) asks the others over
 * a BroadcastChannel, which this origin alone can hear; an answer that comes late still serves. Signing out reaches every tab, and
 * has the API revoke the refresh token. Why no cookie: docs/architecture.md.
 */

interface Tokens {
  readonly token: string;
  readonly refreshToken: string;
  readonly expiresIn: number;
}

type Message =
  | { readonly kind: 'wanted' }
  | { readonly kind: 'offered'; readonly refreshToken: string }
  | { readonly kind: 'ended' };

export type EndReason = 'signedOut' | 'expired';

const STORAGE_KEY = 'refresh-token';
/** How long a new tab waits for another to answer. Same browser, same origin: a few milliseconds. */
const HANDOVER_MS = 150;
/** A token is renewed this long before it ends: no request goes out with one that ends on its way. */
const EARLY_MS = 60_000;

export interface SessionDependencies {
  readonly apiUrl: string;
  readonly storage: Storage;
  readonly fetch: typeof fetch;
}

export const createSession = ({ apiUrl, storage, fetch }: SessionDependencies) => {
  const channel = new BroadcastChannel('session');
  const listeners = new Set<(reason: EndReason) => void>();
  const beginListeners = new Set<() => void>();
  let token: { readonly value: string; readonly renewAt: number } | undefined;
  let wanted = false;
  let renewing: Promise<string | undefined> | undefined;

  const keep = ({ token: value, refreshToken, expiresIn }: Tokens) => {
    token = { value, renewAt: Date.now() + expiresIn * 1000 - EARLY_MS };
    storage.setItem(STORAGE_KEY, refreshToken);
    return value;
  };

  const forget = (reason: EndReason) => {
    wanted = false;
    const wasSignedIn = token !== undefined || storage.getItem(STORAGE_KEY) !== null;
    token = undefined;
    storage.removeItem(STORAGE_KEY);
    if (wasSignedIn) for (const listener of listeners) listener(reason);
  };

  /** Only where this tab asked, and has not been signed in otherwise since. */
  const takeOver = (refreshToken: string) => {
    if (!wanted || storage.getItem(STORAGE_KEY) !== null) return;
    wanted = false;
    storage.setItem(STORAGE_KEY, refreshToken);
    for (const listener of beginListeners) listener();
  };

  const end = (reason: EndReason) => {
    const refreshToken = storage.getItem(STORAGE_KEY);
    forget(reason);
    if (reason !== 'signedOut') return;
    channel.postMessage({ kind: 'ended' } satisfies Message);
    if (refreshToken !== null) void revoke(refreshToken);
  };

  /** So that a copy of it is worth nothing. Signing out does not wait for it: an API that is down must not keep anybody in. */
  const revoke = (refreshToken: string) => post('/auth/logout', refreshToken, { keepalive: true }).catch(() => {});

  const post = (path: string, refreshToken: string, options: RequestInit = {}) =>
    fetch(`${apiUrl}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ refreshToken }),
      ...options,
    });

  channel.addEventListener('message', ({ data }: MessageEvent<Message>) => {
    const refreshToken = storage.getItem(STORAGE_KEY);
    if (data.kind === 'ended') forget('signedOut');
    else if (data.kind === 'offered') takeOver(data.refreshToken);
    else if (data.kind === 'wanted' && refreshToken !== null)
      channel.postMessage({ kind: 'offered', refreshToken } satisfies Message);
  });

  const renew = async (refreshToken: string): Promise<string | undefined> => {
    const response = await post('/auth/refresh', refreshToken);
    if (response.ok) return keep((await response.json()) as Tokens);
    // Only a refusal ends the session: an API that is down or busy says nothing about the token.
    if (response.status === 400 || response.status === 401) {
      end('expired');
      return undefined;
    }
    throw new TypeError(`The session could not be renewed (${response.status}).`);
  };

  /** The token, renewed where it must be; undefined when nobody is signed in. One renewal at a time, whoever asks. */
  const currentToken = (): Promise<string | undefined> => {
    if (token && Date.now() < token.renewAt) return Promise.resolve(token.value);
    const refreshToken = storage.getItem(STORAGE_KEY);
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
    /** The API refused this token: the next one asked for is a new one. */
    refused(value: string) {
      if (token?.value === value) token = undefined;
    },
    isSignedIn: () => storage.getItem(STORAGE_KEY) !== null,
    /** Asks the other tabs for their session, and waits a moment for it. */
    async restore(): Promise<void> {
      if (storage.getItem(STORAGE_KEY) !== null) return;
      wanted = true;
      const answered = new Promise<void>((resolve) => {
        beginListeners.add(resolve);
        setTimeout(resolve, HANDOVER_MS);
      });
      channel.postMessage({ kind: 'wanted' } satisfies Message);
      await answered;
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

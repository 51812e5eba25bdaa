/**
 * A single sign-on that has begun in this tab: what the identity provider must lead back with, and the secret behind the challenge that
 * it was given (RFC 7636). It is in `sessionStorage`, because the pages are left in between.
 */
export interface BegunSignOn {
  readonly state: string;
  readonly codeVerifier: string;
  /** The path to open after signing in. */
  readonly next: string | undefined;
}

/** Why a sign-on failed, as the API says it. */
export const signOnError = (message: string) => ({ error: { code: 'SIGN_ON', message } });

const STORAGE_KEY = 'sign-on';

const base64url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');

const random = (): string => base64url(crypto.getRandomValues(new Uint8Array(32)));

/** Opens the page of the identity provider. */
export const beginSignOn = async (authorizeUrl: string, next: string | undefined): Promise<void> => {
  const begun: BegunSignOn = { state: random(), codeVerifier: random(), next };
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(begun.codeVerifier));
  const url = new URL(authorizeUrl);
  url.searchParams.set('state', begun.state);
  const challenge = base64url(new Uint8Array(digest));
  url.searchParams.set('code_challenge', challenge);
  url.searchParams.set('nonce', challenge);
  url.searchParams.set('code_challenge_method', 'S256');
  sessionStorage.setItem(STORAGE_KEY, JSON.stringify(begun));
  location.assign(url);
};

/** The sign-on that this tab began with the given state; undefined if it began none. It can be taken once. */
export const takeBegunSignOn = (state: string | undefined): BegunSignOn | undefined => {
  const stored = sessionStorage.getItem(STORAGE_KEY);
  sessionStorage.removeItem(STORAGE_KEY);
  const begun = stored === null ? undefined : (JSON.parse(stored) as BegunSignOn);
  return begun !== undefined && begun.state === state ? begun : undefined;
};

const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

const REASONS = ['expired', 'signedOut', 'passwordChanged', 'emailChanged', 'joined'] as const;

export interface SignInSearch {
  /** The path to open after signing in. */
  readonly next?: string | undefined;
  /** Why the user has to sign in. */
  readonly reason?: (typeof REASONS)[number] | undefined;
  readonly email?: string | undefined;
}

export const signInSearch = ({ next, reason, email }: Record<string, unknown>): SignInSearch => ({
  next: text(next),
  reason: REASONS.find((known) => known === reason),
  email: text(email),
});

/** The page to open after signing in. Only a path of this site: `next` may come from a malicious link. */
export const nextOf = (search: object): string => {
  const next = 'next' in search ? search.next : undefined;
  return typeof next === 'string' && /^\/(?![/\\])/.test(next) ? next : '/';
};

/** Parameters with which an identity provider leads back. @see https://www.rfc-editor.org/rfc/rfc6749#section-4.1.2 */
export interface SignOnCallbackSearch {
  readonly code?: string | undefined;
  readonly state?: string | undefined;
  readonly error?: string | undefined;
  readonly error_description?: string | undefined;
}

/** The router parses values: a code of digits alone comes as a number. */
const parameter = (value: unknown): string | undefined => text(typeof value === 'number' ? String(value) : value);

export const signOnCallbackSearch = ({
  code,
  state,
  error,
  error_description: why,
}: Record<string, unknown>): SignOnCallbackSearch => ({
  code: parameter(code),
  state: parameter(state),
  error: parameter(error),
  error_description: parameter(why),
});

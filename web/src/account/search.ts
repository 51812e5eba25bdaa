const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

export interface SignInSearch {
  /** The path to open after signing in. */
  readonly next?: string | undefined;
  /** Why the user has to sign in. */
  readonly reason?: 'expired' | 'signedOut' | 'passwordChanged' | undefined;
  readonly email?: string | undefined;
}

const REASONS = ['expired', 'signedOut', 'passwordChanged'] as const;

export const signInSearch = ({ next, reason, email }: Record<string, unknown>): SignInSearch => ({
  next: text(next),
  reason: REASONS.find((known) => known === reason),
  email: text(email),
});

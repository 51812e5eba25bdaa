import { MINUTE_MS } from '../calendar/units.ts';
import type { SignOn } from './sign-on.ts';

/** A sign-in at an identity provider proves who somebody is for so long. */
const RECENT_SIGN_IN_MS = 10 * MINUTE_MS;

/** Facts about a caller who wants to change what protects the account. */
interface Proof {
  /** Undefined for a person. */
  readonly tokenId?: string | undefined;
  /** The caller has just sent the right password, and the code of the second factor where it is on. */
  readonly hasSentPassword: boolean;
  /** When the caller signed in, in seconds since 1970. */
  readonly authTime?: number | undefined;
}

/**
 * True if a caller may change what protects an account, or delete it. A session alone is not enough, because it may be stolen, and an
 * API token never is. People who sign in at an identity provider have no password: for them a recent sign-in counts.
 *
 * @param signOn of the account
 */
export const mayLower = (
  { tokenId, hasSentPassword, authTime = 0 }: Proof,
  signOn: SignOn | undefined,
  now: Date,
): boolean =>
  tokenId === undefined &&
  (hasSentPassword || (signOn !== undefined && now.getTime() - authTime * 1_000 <= RECENT_SIGN_IN_MS));

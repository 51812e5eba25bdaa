import * as z from 'zod/mini';
import type { Account } from '../../data/accounts/accounts.ts';
import type { SignOn } from '../../domain/accounts/sign-on.ts';
import { MINUTE_MS } from '../../domain/calendar/units.ts';
import { ValidationError } from '../../domain/errors.ts';
import type { Caller } from '../../http/operation.ts';
import type { UserSessions } from '../../integrations/user-sessions.ts';
import { passwordSchema, totpSchema } from './members.ts';

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
const mayLower = ({ tokenId, hasSentPassword, authTime = 0 }: Proof, signOn: SignOn | undefined, now: Date): boolean =>
  tokenId === undefined &&
  (hasSentPassword || (signOn !== undefined && now.getTime() - authTime * 1_000 <= RECENT_SIGN_IN_MS));

/** Members of a request that changes what protects the account. */
export const proof = { password: z.optional(passwordSchema), totp: z.optional(totpSchema) };

/** How a description of such an operation says what to send. */
export const PROOF_RULE =
  'Send your password, and the code of the second factor where it is on. Whoever has no password, because they sign in at an identity provider, sends neither and must have signed in within the last ten minutes.';

/** @throws InvalidCredentialsError, TotpRequiredError, ValidationError unless the caller proves who they are */
export const confirmIdentity = async (
  { sessions, now }: { readonly sessions: Pick<UserSessions, 'logIn'>; readonly now: () => Date },
  caller: Caller,
  account: Pick<Account, 'signOn'> | undefined,
  { password, totp }: { readonly password?: string | undefined; readonly totp?: string | undefined },
): Promise<void> => {
  if (password !== undefined) await sessions.logIn(caller.userId, password, totp);
  if (mayLower({ ...caller, hasSentPassword: password !== undefined }, account?.signOn, now())) return;
  const message =
    account?.signOn === undefined
      ? 'Send your password.'
      : 'Send your password. If you have none, sign in at your identity provider again and repeat this within ten minutes.';
  throw new ValidationError([{ path: 'password', message }]);
};

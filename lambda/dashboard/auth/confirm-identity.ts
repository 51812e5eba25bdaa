import * as z from 'zod/mini';
import type { Account } from '../../data/accounts/accounts.ts';
import { mayLower } from '../../domain/accounts/sign-on.ts';
import { invalid } from '../../domain/errors.ts';
import type { Caller } from '../../http/operation.ts';
import { passwordSchema, totpSchema } from './members.ts';
import type { Identity } from './open-identity.ts';

/** Members of a request that changes what protects the account. */
export const proof = { password: z.optional(passwordSchema), totp: z.optional(totpSchema) };

/** How a description of such an operation says what to send. */
export const PROOF_RULE =
  'Send your password, and the code of the second factor where it is on. Whoever has no password, because they sign in at an identity provider, sends neither and must have signed in within the last ten minutes.';

/** @throws InvalidCredentialsError, TotpRequiredError, ValidationError unless the caller proves who they are */
export const confirmIdentity = async (
  { sessions, now }: Identity,
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
  throw invalid('password', message);
};

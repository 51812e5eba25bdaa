import { isIn, scopeOf } from '../../domain/accounts/scope.ts';
import type { Implementation } from '../../http/operation.ts';
import type { Identity } from './open-identity.ts';
import type * as operations from './operations.ts';
import { findUser } from './verify-email.ts';

/** Keys and API tokens that were made while somebody else may have been signed in, newest first. */
export const readReview =
  ({ users, keys, tokens }: Identity): Implementation<typeof operations.readReview> =>
  async ({ caller }) => {
    const { reviewSince: since } = await findUser(users, caller.userId);
    if (since === undefined) return { since: null, keys: [], tokens: [] };
    const { sees, permits } = scopeOf(caller);
    const made = (await keys.list(caller.accountId)).filter(
      (key) => key.status === 'active' && key.createdAt >= since && isIn(sees, key),
    );
    const madeTokens = permits('tokens:read')
      ? (await tokens.list(caller.accountId)).filter(({ createdAt }) => createdAt >= since)
      : [];
    return {
      since,
      tokens: madeTokens
        .map(({ lastUsedAt = null, ...token }) => ({ ...token, id: token.tokenId, lastUsedAt }))
        .reverse(),
      keys: made.map(({ lastUsedAt = null, ...key }) => ({ ...key, id: key.keyId, lastUsedAt })).reverse(),
    };
  };

export const finishReview =
  ({ users }: Identity): Implementation<typeof operations.finishReview> =>
  async ({ caller }) => {
    await users.finishReview(caller.userId);
    return undefined;
  };

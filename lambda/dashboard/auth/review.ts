import type { ServiceKeys } from '../../data/accounts/service-keys.ts';
import type { Users } from '../../data/accounts/users.ts';
import type { Implementation } from '../../http/operation.ts';
import type * as operations from './operations.ts';
import { findUser } from './verify-email.ts';

interface ReviewDependencies {
  readonly users: Pick<Users, 'find' | 'finishReview'>;
  readonly keys: Pick<ServiceKeys, 'list'>;
}

/** Keys that were made while somebody else may have been signed in, newest first. */
export const readReview =
  ({ users, keys }: ReviewDependencies): Implementation<typeof operations.readReview> =>
  async ({ caller }) => {
    const { reviewSince: since } = await findUser(users, caller.userId);
    if (since === undefined) return { since: null, keys: [] };
    const made = (await keys.list(caller.accountId)).filter(
      ({ status, createdAt }) => status === 'active' && createdAt >= since,
    );
    return {
      since,
      keys: made
        .map(({ keyId, name, maskedKey, createdAt, lastUsedAt = null }) => ({
          id: keyId,
          name,
          maskedKey,
          createdAt,
          lastUsedAt,
        }))
        .reverse(),
    };
  };

export const finishReview =
  ({ users }: Pick<ReviewDependencies, 'users'>): Implementation<typeof operations.finishReview> =>
  async ({ caller }) => {
    await users.finishReview(caller.userId);
    return undefined;
  };

import type { Accounts } from '../../data/accounts/accounts.ts';
import { newServiceKey, type ServiceKey, type ServiceKeys } from '../../data/accounts/service-keys.ts';
import { plans } from '../../domain/billing/plans.ts';
import { UnauthenticatedError } from '../../domain/errors.ts';
import type { Implementation } from '../../http/operation.ts';
import type * as operations from './operations.ts';

interface KeyDependencies {
  readonly keys: ServiceKeys;
  readonly accounts: Pick<Accounts, 'find'>;
  readonly newAccountKey: () => string;
  readonly newKeyId: () => string;
  readonly now: () => Date;
}

const view = ({ keyId, keyHash: _, revokedAt, lastUsedAt, ...key }: ServiceKey) => ({
  id: keyId,
  ...key,
  revokedAt: revokedAt ?? null,
  lastUsedAt: lastUsedAt ?? null,
});

const requireAccount = async (accounts: Pick<Accounts, 'find'>, accountId: string) => {
  const account = await accounts.find(accountId);
  if (account === undefined) throw new UnauthenticatedError('The account of this token no longer exists.');
  return account;
};

export const listKeys =
  ({ keys, accounts }: Pick<KeyDependencies, 'keys' | 'accounts'>): Implementation<typeof operations.listKeys> =>
  async ({ caller: { accountId } }) => {
    const [account, serviceKeys] = await Promise.all([requireAccount(accounts, accountId), keys.list(accountId)]);
    return { items: serviceKeys.map(view), active: account.activeKeys, limit: plans[account.plan].keys };
  };

export const createKey =
  ({ keys, accounts, newAccountKey, newKeyId, now }: KeyDependencies): Implementation<typeof operations.createKey> =>
  async ({ caller: { accountId }, body: { name } }) => {
    const account = await requireAccount(accounts, accountId);
    const serviceKey = newAccountKey();
    const key = newServiceKey({ keyId: newKeyId(), name, createdAt: now().toISOString() }, serviceKey);
    await keys.create(account, key, plans[account.plan].keys);
    return { ...view(key), key: serviceKey };
  };

export const revokeKey =
  ({ keys, now }: Pick<KeyDependencies, 'keys' | 'now'>): Implementation<typeof operations.revokeKey> =>
  async ({ caller: { accountId }, params: { id }, query: { force } }) => {
    await keys.revoke(accountId, id, { force: force === 'true', revokedAt: now().toISOString() });
    return undefined;
  };

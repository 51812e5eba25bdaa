import type { Accounts } from '../../data/accounts/accounts.ts';
import { auditOf } from '../../data/accounts/audit-log.ts';
import { newServiceKey, type ServiceKey, type ServiceKeys } from '../../data/accounts/service-keys.ts';
import { permits } from '../../domain/accounts/permissions.ts';
import { plans } from '../../domain/billing/plans.ts';
import { HOUR_MS } from '../../domain/calendar/units.ts';
import { ForbiddenError, UnauthenticatedError, ValidationError } from '../../domain/errors.ts';
import type { Caller, Implementation } from '../../http/operation.ts';
import type * as operations from './operations.ts';

interface KeyDependencies {
  readonly keys: ServiceKeys;
  readonly accounts: Pick<Accounts, 'find'>;
  readonly newAccountKey: () => string;
  readonly newKeyId: () => string;
  readonly now: () => Date;
}

const view = (
  { keyId, name, maskedKey, status, projectId, ownerUserId, createdAt, validUntil, former, ...key }: ServiceKey,
  now: Date,
) => {
  const at = now.toISOString();
  return {
    id: keyId,
    name,
    maskedKey,
    status: status === 'active' && validUntil !== undefined && validUntil <= at ? ('expired' as const) : status,
    project: projectId,
    ownerUserId: ownerUserId ?? null,
    createdAt,
    validUntil: validUntil ?? null,
    formerSecrets: former
      .filter((secret) => status === 'active' && secret.validUntil > at)
      .map((secret) => ({ maskedKey: secret.maskedKey, validUntil: secret.validUntil })),
    revokedAt: key.revokedAt ?? null,
    lastUsedAt: key.lastUsedAt ?? null,
  };
};

const requireAccount = async (accounts: Pick<Accounts, 'find'>, accountId: string) => {
  const account = await accounts.find(accountId);
  if (account === undefined) throw new UnauthenticatedError('The account of this token no longer exists.');
  return account;
};

/** @throws ForbiddenError if the key is another user's and the caller's role changes own keys only */
const requireOwn = ({ role, userId }: Caller, { ownerUserId }: ServiceKey): void => {
  if (ownerUserId === userId || permits(role, 'keys:write-all')) return;
  throw new ForbiddenError(
    `Your role ${role} changes its own keys only: it lacks the permission keys:write-all. Ask an owner or admin.`,
  );
};

/** @throws ValidationError */
const requireFuture = (validUntil: string | null | undefined, now: Date): void => {
  if (validUntil && Date.parse(validUntil) <= now.getTime())
    throw new ValidationError([{ path: 'validUntil', message: 'must be in the future' }]);
};

/** The same instant in UTC, so that ends compare as text. */
const utc = (instant: string): string => new Date(instant).toISOString();

export const listKeys =
  ({
    keys,
    accounts,
    now,
  }: Pick<KeyDependencies, 'keys' | 'accounts' | 'now'>): Implementation<typeof operations.listKeys> =>
  async ({ caller: { accountId } }) => {
    const [account, serviceKeys] = await Promise.all([requireAccount(accounts, accountId), keys.list(accountId)]);
    return {
      items: serviceKeys.map((key) => view(key, now())),
      active: account.activeKeys,
      limit: plans[account.plan].keys,
    };
  };

export const createKey =
  ({ keys, accounts, newAccountKey, newKeyId, now }: KeyDependencies): Implementation<typeof operations.createKey> =>
  async ({ caller, clientAddress, body: { name, project, validUntil } }) => {
    requireFuture(validUntil, now());
    const account = await requireAccount(accounts, caller.accountId);
    const serviceKey = newAccountKey();
    const facts = {
      keyId: newKeyId(),
      name,
      createdAt: now().toISOString(),
      ownerUserId: caller.userId,
      ...(project !== undefined && { projectId: project }),
      ...(validUntil !== undefined && { validUntil: utc(validUntil) }),
    };
    const key = newServiceKey(facts, serviceKey);
    const details = { name, project: key.projectId, ...(key.validUntil && { validUntil: key.validUntil }) };
    const fact = { action: 'key.created', subject: key.keyId, details } as const;
    await keys.create(account, key, plans[account.plan].keys, auditOf({ caller, clientAddress }, fact, now()));
    return { ...view(key, now()), key: serviceKey };
  };

export const changeKey =
  ({ keys, now }: Pick<KeyDependencies, 'keys' | 'now'>): Implementation<typeof operations.changeKey> =>
  async ({ caller, clientAddress, params: { id }, body: { name, project, validUntil } }) => {
    requireFuture(validUntil, now());
    const key = await keys.find(caller.accountId, id);
    requireOwn(caller, key);
    const changes = {
      ...(name !== undefined && { name }),
      ...(project !== undefined && { projectId: project }),
      ...(validUntil !== undefined && { validUntil: validUntil && utc(validUntil) }),
    };
    if (Object.keys(changes).length === 0) return view(key, now());
    const names = Object.keys(changes) as (keyof typeof changes)[];
    const detailsOf = (of: { readonly [N in keyof typeof changes]?: string | null | undefined }) =>
      Object.fromEntries(names.map((each) => [each, of[each] ?? 'none']));
    const fact = { action: 'key.changed', subject: id, details: detailsOf(changes), before: detailsOf(key) } as const;
    await keys.change(key, changes, auditOf({ caller, clientAddress }, fact, now()));
    return view(await keys.find(caller.accountId, id), now());
  };

export const rotateKey =
  ({
    keys,
    accounts,
    newAccountKey,
    now,
  }: Pick<KeyDependencies, 'keys' | 'accounts' | 'newAccountKey' | 'now'>): Implementation<
    typeof operations.rotateKey
  > =>
  async ({ caller, clientAddress, params: { id }, body: { overlapHours } }) => {
    const key = await keys.find(caller.accountId, id);
    requireOwn(caller, key);
    const { accountKey } = await requireAccount(accounts, caller.accountId);
    const at = now();
    const overlapEnd = new Date(at.getTime() + overlapHours * HOUR_MS).toISOString();
    const serviceKey = newAccountKey();
    const fact = { action: 'key.rotated', subject: id, details: { name: key.name, overlapEnd } } as const;
    const audit = auditOf({ caller, clientAddress }, fact, at);
    const rotated = await keys.rotate(key, { serviceKey, accountKey, overlapEnd, now: at.toISOString() }, audit);
    return { ...view(rotated, at), key: serviceKey };
  };

export const revokeKey =
  ({ keys, now }: Pick<KeyDependencies, 'keys' | 'now'>): Implementation<typeof operations.revokeKey> =>
  async ({ caller, clientAddress, params: { id }, query: { force } }) => {
    const key = await keys.find(caller.accountId, id);
    requireOwn(caller, key);
    const fact = { action: 'key.revoked', subject: id, details: { name: key.name } } as const;
    const audit = auditOf({ caller, clientAddress }, fact, now());
    const options = { force: force === 'true', revokedAt: now().toISOString() };
    await keys.revoke(caller.accountId, id, options, audit);
    return undefined;
  };

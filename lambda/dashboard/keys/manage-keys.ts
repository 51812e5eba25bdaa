import { requireAccount } from '../../data/accounts/accounts.ts';
import { auditOf } from '../../data/accounts/audit-log.ts';
import { newServiceKey, type ServiceKey, type ServiceKeys } from '../../data/accounts/service-keys.ts';
import { checkMember, type Users } from '../../data/accounts/users.ts';
import { MAX_DEVELOPER_KEYS } from '../../domain/accounts/permissions.ts';
import { DEFAULT_PROJECT_ID, hasProject, isIn, scopeOf } from '../../domain/accounts/scope.ts';
import { plans } from '../../domain/billing/plans.ts';
import { HOUR_MS } from '../../domain/calendar/units.ts';
import { ForbiddenError, invalid, LimitReachedError, NotFoundError } from '../../domain/errors.ts';
import type { Caller, Implementation, Implementations } from '../../http/operation.ts';
import type { Settings } from '../open-settings.ts';
import type * as operations from './operations.ts';

/** The schema leaves out what is not shown. */
const view = ({ status, validUntil, former, ...key }: ServiceKey, now: Date) => {
  const at = now.toISOString();
  return {
    ...key,
    id: key.keyId,
    status: status === 'active' && validUntil !== undefined && validUntil <= at ? ('expired' as const) : status,
    project: key.projectId,
    ownerUserId: key.ownerUserId ?? null,
    validUntil: validUntil ?? null,
    formerSecrets: former.filter((secret) => status === 'active' && secret.validUntil > at),
    revokedAt: key.revokedAt ?? null,
    lastUsedAt: key.lastUsedAt ?? null,
  };
};

/**
 * @throws NotFoundError if the caller does not see the key
 * @throws ForbiddenError if the caller may change other keys only
 */
const findChangeable = async (keys: Pick<ServiceKeys, 'find'>, caller: Caller, id: string): Promise<ServiceKey> => {
  const key = await keys.find(caller.accountId, id);
  const { sees, changes } = scopeOf(caller);
  if (!key || !isIn(sees, key)) throw new NotFoundError('There is no such key.');
  if (isIn(changes, key)) return key;
  throw new ForbiddenError(
    `Your role ${caller.role} changes its own keys only: it lacks the permission keys:write-all. Ask an owner or admin.`,
  );
};

/** @throws NotFoundError for a project that the caller does not see */
const requireSeen = (caller: Caller, projectId: string | undefined): void => {
  if (projectId !== undefined && !hasProject(scopeOf(caller).sees, projectId))
    throw new NotFoundError('There is no such project.');
};

/**
 * @throws ForbiddenError for the key of another, or of nobody, by a role that changes its own keys only
 * @throws ValidationError for a user who is no member
 */
const findMember = async (
  users: Pick<Users, 'find'>,
  caller: Caller,
  member: string | null,
): Promise<Pick<Caller, 'userId' | 'role' | 'projects' | 'tokenId'> | undefined> => {
  if (member === caller.userId) return caller;
  const { ownerUserId } = scopeOf(caller).changes;
  if (ownerUserId !== undefined)
    throw new ForbiddenError(
      `Your role ${caller.role} makes its own keys only: it lacks the permission keys:write-all.`,
    );
  if (member === null) return undefined;
  const user = await users.find(member);
  if (user?.accountId !== caller.accountId || user.tokenId !== undefined)
    throw invalid('member', `${member} is not a member of the account`);
  return user;
};

/** @throws ValidationError */
const requireFuture = (validUntil: string | null | undefined, now: Date): void => {
  if (validUntil && Date.parse(validUntil) <= now.getTime()) throw invalid('validUntil', 'must be in the future');
};

/** @param developer the user id of a role that sees its own keys only. @throws LimitReachedError */
const requireRoom = async ({ listActive }: Pick<ServiceKeys, 'listActive'>, accountId: string, developer?: string) => {
  if (developer === undefined) return;
  const own = (await listActive(accountId)).filter(({ ownerUserId }) => ownerUserId === developer);
  if (own.length >= MAX_DEVELOPER_KEYS)
    throw new LimitReachedError(`A developer can have ${MAX_DEVELOPER_KEYS} active keys. Revoke one first.`);
};

/** The same instant in UTC, so that ends compare as text. */
const utc = (instant: string): string => new Date(instant).toISOString();

/** A response of Lambda has 6 MB at most. */
const MAX_REVOKED = 5_000;

/** Without older ones of the revoked keys than this many. */
export const withoutOld = <K extends Pick<ServiceKey, 'status'>>(keys: readonly K[], most: number): K[] => {
  const tooOld = new Set(keys.filter(({ status }) => status === 'revoked').slice(0, -most));
  return keys.filter((key) => !tooOld.has(key));
};

export const listKeys =
  ({ keys, accounts, now }: Pick<Settings, 'keys' | 'accounts' | 'now'>): Implementation<typeof operations.listKeys> =>
  async ({ caller }) => {
    const { accountId } = caller;
    const { sees } = scopeOf(caller);
    const [account, serviceKeys] = await Promise.all([requireAccount(accounts, accountId), keys.listWhole(accountId)]);
    const seen = serviceKeys.filter((key) => isIn(sees, key));
    const ofAccount = { active: account.activeKeys, limit: plans[account.plan].keys };
    const own = { active: seen.filter(({ status }) => status === 'active').length, limit: MAX_DEVELOPER_KEYS };
    const items = withoutOld(seen, MAX_REVOKED).map((key) => view(key, now()));
    return { items, ...(sees.ownerUserId === undefined ? ofAccount : own) };
  };

export const manageKeys = (
  settings: Settings,
): Implementations<typeof operations, 'listKeys' | 'createKey' | 'changeKey' | 'rotateKey' | 'revokeKey'> => ({
  listKeys: listKeys(settings),

  createKey: async ({ caller, clientAddress, body: { name, member = caller.userId, validUntil, ...body } }) => {
    requireFuture(validUntil, settings.now());
    const { sees } = scopeOf(caller);
    const project = body.project ?? (hasProject(sees, DEFAULT_PROJECT_ID) ? DEFAULT_PROJECT_ID : sees.projects?.[0]);
    requireSeen(caller, project);
    const owner = await findMember(settings.users, caller, member);
    const account = await requireAccount(settings.accounts, caller.accountId);
    const serviceKey = settings.newAccountKey();
    const facts = {
      keyId: settings.newId(),
      name,
      createdAt: settings.now().toISOString(),
      ...(owner && { ownerUserId: owner.userId, ownerRole: owner.role }),
      ...(project !== undefined && { projectId: project }),
      ...(validUntil !== null && { validUntil: utc(validUntil) }),
    };
    const key = newServiceKey(facts, serviceKey);
    const other = member === caller.userId ? {} : { member: member ?? 'none' };
    const details = { name, project: key.projectId, ...other, ...(key.validUntil && { validUntil: key.validUntil }) };
    const fact = { action: 'key.created', subject: key.keyId, details } as const;
    // A program is in no list of members.
    const isStill = owner && owner.tokenId === undefined ? [checkMember(caller.accountId, owner)] : [];
    const requires = () => requireRoom(settings.keys, caller.accountId, sees.ownerUserId);
    const audit = { ...auditOf({ caller, clientAddress }, fact, settings.now()), requires };
    await settings.keys.create(account, key, plans[account.plan].keys, audit, ...isStill);
    return { ...view(key, settings.now()), key: serviceKey };
  },

  changeKey: async ({ caller, clientAddress, params: { id }, body: { name, project, validUntil } }) => {
    requireFuture(validUntil, settings.now());
    requireSeen(caller, project);
    const key = await findChangeable(settings.keys, caller, id);
    const changes = {
      ...(name !== undefined && { name }),
      ...(project !== undefined && { projectId: project }),
      ...(validUntil !== undefined && { validUntil: validUntil && utc(validUntil) }),
    };
    if (Object.keys(changes).length === 0) return view(key, settings.now());
    const names = Object.keys(changes) as (keyof typeof changes)[];
    const detailsOf = (of: { readonly [N in keyof typeof changes]?: string | null | undefined }) =>
      Object.fromEntries(names.map((each) => [each, of[each] ?? 'none']));
    const fact = { action: 'key.changed', subject: id, details: detailsOf(changes), before: detailsOf(key) } as const;
    await settings.keys.change(key, changes, auditOf({ caller, clientAddress }, fact, settings.now()));
    return view(await findChangeable(settings.keys, caller, id), settings.now());
  },

  rotateKey: async ({ caller, clientAddress, params: { id }, body: { overlapHours } }) => {
    const key = await findChangeable(settings.keys, caller, id);
    const account = await requireAccount(settings.accounts, caller.accountId);
    const at = settings.now();
    const overlapEnd = new Date(at.getTime() + overlapHours * HOUR_MS).toISOString();
    const serviceKey = settings.newAccountKey();
    const fact = { action: 'key.rotated', subject: id, details: { name: key.name, overlapEnd } } as const;
    const audit = auditOf({ caller, clientAddress }, fact, at);
    const rotated = await settings.keys.rotate(key, { serviceKey, account, overlapEnd, now: at.toISOString() }, audit);
    return { ...view(rotated, at), key: serviceKey };
  },

  revokeKey: async ({ caller, clientAddress, params: { id }, query: { force } }) => {
    const key = await findChangeable(settings.keys, caller, id);
    const fact = { action: 'key.revoked', subject: id, details: { name: key.name } } as const;
    const audit = auditOf({ caller, clientAddress }, fact, settings.now());
    const options = { force: force === 'true', revokedAt: settings.now().toISOString() };
    await settings.keys.revoke(caller.accountId, id, options, audit);
  },
});

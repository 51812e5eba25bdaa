import { ForbiddenError } from '../errors.ts';

/** Roles of an account's members. Each account has exactly one owner. */
export const roles = ['owner', 'admin', 'member', 'viewer', 'billing', 'developer'] as const;
export type Role = (typeof roles)[number];

/** Permissions of the dashboard API. Each operation names one. */
export const permissions = [
  'spend:read',
  /** Reads that show the spend of the whole account at once: exports, reconciliation, own prices, changes of prices. */
  'spend:read-all',
  'requests:read',
  /** Alert rules and alerts; to acknowledge an alert is to write. With `rules:write`, saved views too. */
  'rules:read',
  'rules:write',
  /** Gives single values of budgets other amounts: asked for, or not. */
  'raises:decide',
  /** Reports, and decisions about savings: both are about the spend of the whole account. */
  'reports:read',
  'reports:write',
  /** Service keys and the projects they belong to. */
  'keys:read',
  /** A role without `keys:write-all` may change its own keys only. */
  'keys:write',
  'keys:write-all',
  'projects:write',
  'dimensions:write',
  /** The account's own prices: what all its costs come from. */
  'prices:write',
  'members:read',
  'members:write',
  'tokens:read',
  'tokens:write',
  'audit:read',
  'billing:read',
  'billing:write',
  /** Bills of providers: imports, and credentials that read it. */
  'bills:write',
  'account:read',
  'account:write',
  /** Protections of the account against a stolen password or session. */
  'protections:write',
  'account:delete',
  /** Makes another member the owner. */
  'ownership:write',
  'sign-on:write',
  /** The user's own login, and asking for more of a limit. */
  'self:write',
] as const;
export type Permission = (typeof permissions)[number];

const developer = [
  'spend:read',
  'requests:read',
  'rules:read',
  'keys:read',
  'keys:write',
  'self:write',
] as const satisfies readonly Permission[];

const viewer = [
  'spend:read',
  'spend:read-all',
  'requests:read',
  'rules:read',
  'reports:read',
  'keys:read',
  'members:read',
  'billing:read',
  'account:read',
  'self:write',
] as const satisfies readonly Permission[];

const member = [...viewer, 'rules:write', 'reports:write', 'keys:write'] as const satisfies readonly Permission[];

const ownerOnly: ReadonlySet<Permission> = new Set([
  'billing:write',
  'account:delete',
  'ownership:write',
  'sign-on:write',
]);

/** The permissions that somebody may have who sees a part of the account only: their operations show and change that part. */
const partPermissions: ReadonlySet<Permission> = new Set([...developer, 'rules:write']);

/** The permissions of each role. Spend is shown by key and project, so who reads spend reads the names of keys too. */
const permissionsByRole: Readonly<Record<Role, ReadonlySet<Permission>>> = {
  owner: new Set(permissions),
  admin: new Set(permissions.filter((permission) => !ownerOnly.has(permission))),
  member: new Set(member),
  viewer: new Set(viewer),
  developer: new Set(developer),
  billing: new Set([
    'spend:read',
    'spend:read-all',
    'keys:read',
    'billing:read',
    'billing:write',
    'bills:write',
    'account:read',
    'self:write',
  ]),
};

/** Permissions that no token has, whatever its role: a stolen one must not give anybody an access that outlives it. */
const peopleOnly: ReadonlySet<Permission> = new Set([
  'members:write',
  'tokens:write',
  'protections:write',
  'account:delete',
  'ownership:write',
  'sign-on:write',
  'self:write',
]);

/** True if an API token with a sufficient role may do it, too. */
export const isForTokens = (permission: Permission): boolean => !peopleOnly.has(permission);

export const permits = (role: Role, permission: Permission): boolean => permissionsByRole[role].has(permission);

/** Active keys that a developer may have at once. */
export const MAX_DEVELOPER_KEYS = 5;

/** Roles whose members may be limited to projects. */
export const projectRoles = ['member', 'viewer', 'developer'] as const satisfies readonly Role[];

export const isForParts = (permission: Permission): boolean => partPermissions.has(permission);

export const permissionsOf = (role: Role): Permission[] => [...permissionsByRole[role]];

const beyond = (own: Role, given: Role): Permission | undefined =>
  permissionsOf(given).find((permission) => !permits(own, permission));

/** True if a role may do all that another may. Nobody gives a role that may do more than their own, to a person or a token. */
export const mayGive = (own: Role, given: Role): boolean => beyond(own, given) === undefined;

/** @throws ForbiddenError */
export const requireMayGive = (own: Role, given: Role): void => {
  const more = beyond(own, given);
  if (more !== undefined)
    throw new ForbiddenError(
      `The role ${given} has the permission ${more}, which your role ${own} lacks. Ask the owner.`,
    );
};

/** The roles that have a permission, most powerful first. */
export const rolesWith = (permission: Permission): readonly Role[] => roles.filter((role) => permits(role, permission));

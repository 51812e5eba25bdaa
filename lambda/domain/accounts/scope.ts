import { isForParts, type Permission, permissionsOf, permits, type Role } from './permissions.ts';

/** Every account has it, and keys of 0.1 belong to it. */
export const DEFAULT_PROJECT_ID = 'default';

/** Who asks for something of an account: a member, or a program with an API token. */
export interface Principal {
  readonly userId: string;
  readonly role: Role;
  /** Ids of the projects that the member is limited to. Undefined for all. */
  readonly projects?: readonly string[] | undefined;
  /** Ids of the keys in the part that the member sees, as they are now. Only who sees a part has it. */
  readonly keyIds?: ReadonlySet<string> | undefined;
}

/** A part of an account: what each member leaves undefined is not limited. */
export interface Part {
  readonly projects?: readonly string[] | undefined;
  /** Id of the member, if it has only the keys of that member. */
  readonly ownerUserId?: string | undefined;
  /** The keys in it, and with them their spend, requests and sessions. */
  readonly keyIds?: ReadonlySet<string> | undefined;
}

/** The part of an account that somebody sees and changes. */
export interface Scope {
  readonly sees: Part;
  /** The keys that the caller may change, if the caller may change any. */
  readonly changes: Part;
  readonly permissions: readonly Permission[];
  /** Whether the caller may use an operation, or see what only such an operation shows. */
  readonly permits: (permission: Permission) => boolean;
}

const NO_KEYS: ReadonlySet<string> = new Set();

/** The one decision of which projects, keys and members somebody sees. Who sees a part, and whose keys were not read, sees no key. */
export const scopeOf = ({ userId, role, projects, keyIds = NO_KEYS }: Principal): Scope => {
  const ownerUserId = role === 'developer' ? userId : undefined;
  const isPart = projects !== undefined || ownerUserId !== undefined;
  const permissions = permissionsOf(role).filter((permission) => !isPart || isForParts(permission));
  return {
    sees: isPart ? { projects, ownerUserId, keyIds } : {},
    changes: { projects, ownerUserId: permits(role, 'keys:write-all') ? undefined : userId },
    permissions,
    permits: (permission) => permissions.includes(permission),
  };
};

/** True if a project is in a part of an account. */
export const hasProject = ({ projects }: Part, projectId: string): boolean =>
  projects === undefined || projects.includes(projectId);

/** True if a key is in a part of an account. */
export const isIn = (
  part: Part,
  { projectId, ownerUserId }: { readonly projectId: string; readonly ownerUserId?: string | undefined },
): boolean => hasProject(part, projectId) && (part.ownerUserId === undefined || part.ownerUserId === ownerUserId);

/** True if what was sent with a key is in a part of an account. @param keyId null for no key that is known */
export const hasKey = ({ keyIds }: Part, keyId: string | null): boolean =>
  keyIds === undefined || (keyId !== null && keyIds.has(keyId));

/** True if all that a filter matches is in a part. */
export const hasFilter = (
  part: Part,
  {
    keyId,
    project,
    member,
  }: {
    readonly keyId?: string | undefined;
    readonly project?: string | undefined;
    readonly member?: string | undefined;
  } = {},
): boolean => {
  if (part.keyIds === undefined || (keyId !== undefined && part.keyIds.has(keyId))) return true;
  return part.ownerUserId === undefined
    ? project !== undefined && hasProject(part, project)
    : member === part.ownerUserId;
};

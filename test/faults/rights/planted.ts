/** A change of one line of the sources after which somebody may do more or less than the documentation says, or does it without an entry. */
export interface PlantedFault {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

const inFile =
  (file: string) =>
  (from: string, to: string): PlantedFault => ({ file: `lambda/${file}`, from, to });

const roles = inFile('domain/accounts/permissions.ts');
const scope = inFile('domain/accounts/scope.ts');
const identity = inFile('dashboard/auth/confirm-identity.ts');
const proof = inFile('domain/accounts/sign-on.ts');
const totp = inFile('dashboard/auth/totp.ts');
const keys = inFile('dashboard/keys/manage-keys.ts');
const keyOperations = inFile('dashboard/keys/operations.ts');
const projects = inFile('dashboard/keys/manage-projects.ts');
const members = inFile('dashboard/members/manage-members.ts');
const check = inFile('http/http-stack.ts');
const signOn = inFile('dashboard/sign-on/sign-on.ts');

export const plantedFaults: readonly PlantedFault[] = [
  // A role that may do more, or less.
  roles("const viewer = [\n  'spend:read',", "const viewer = [\n  'rules:write',\n  'spend:read',"),
  roles("'reports:write', 'keys:write'] as", "'reports:write', 'keys:write', 'tokens:read'] as"),
  roles("'reports:write', 'keys:write'] as", "'reports:write'] as"),
  roles('const developer = [\n', "const developer = [\n  'spend:read-all',\n"),
  roles('const developer = [\n', "const developer = [\n  'members:read',\n"),
  roles("  'keys:write',\n  'self:write',\n] as const satisfies", "  'self:write',\n] as const satisfies"),
  roles("    'bills:write',\n    'account:read',", "    'account:read',"),
  roles("    'bills:write',\n    'account:read',", "    'bills:write',\n    'requests:read',\n    'account:read',"),
  roles("  'billing:write',\n  'account:delete',", "  'account:delete',"),
  roles("  'billing:write',\n  'account:delete',", "  'billing:write',"),
  roles(
    "  'ownership:write',\n  'sign-on:write',\n]);\n\n/** The permissions that",
    "  'sign-on:write',\n]);\n\n/** The permissions that",
  ),
  roles("  'sign-on:write',\n]);\n\n/** The permissions that", ']);\n\n/** The permissions that'),
  // A token that may do what is for people.
  roles("new Set([\n  'members:write',\n  'tokens:write',", "new Set([\n  'tokens:write',"),
  roles("new Set([\n  'members:write',\n  'tokens:write',", "new Set([\n  'members:write',"),
  roles("  'protections:write',\n  'account:delete',\n  'ownership", "  'account:delete',\n  'ownership"),
  check(
    'if (caller.tokenId !== undefined && !isForTokens(permission))',
    'if (!isForTokens(permission) && caller.userId === permission)',
  ),
  // A change that is judged by a role of before.
  check('callerOf(event, membershipOf, !isRead)', 'callerOf(event, membershipOf)'),
  // A part that shows more.
  roles("new Set([...developer, 'rules:write'])", "new Set([...developer, 'rules:write', 'reports:read'])"),
  roles("new Set([...developer, 'rules:write'])", "new Set([...developer, 'rules:write', 'members:read'])"),
  roles('partPermissions.has(permission)', "partPermissions.has(permission) || permission.endsWith(':read')"),
  roles('partPermissions.has(permission)', "partPermissions.has(permission) && permission !== 'requests:read'"),
  scope("role === 'developer' ? userId : undefined", 'undefined as string | undefined'),
  scope('projects !== undefined || ownerUserId !== undefined', 'ownerUserId !== undefined'),
  scope('sees: isPart ? { projects, ownerUserId, keyIds } : {}', 'sees: isPart ? { ownerUserId, keyIds } : {}'),
  scope("permits(role, 'keys:write-all') ? undefined : userId", 'undefined'),
  scope('hasProject(part, projectId) && (part.ownerUserId', '(part.ownerUserId'),
  scope('projects === undefined || projects.includes(projectId)', 'true || projects?.includes(projectId) === true'),
  // A check that is missing in one place.
  roles('if (more !== undefined)\n', "if (more === 'ownership:write')\n"),
  members('    requireMayGive(caller.role, role);\n', ''),
  members('changes.projects === undefined && mayHaveProjects', 'mayHaveProjects'),
  keys("if (!isIn(sees, key)) throw new NotFoundError('There is no such key.');", ''),
  keys('if (isIn(changes, key)) return key;', 'if (isIn(sees, key)) return key;'),
  keys('    requireSeen(caller, project);\n    if (sees', '    if (sees'),
  keys('serviceKeys.filter((key) => isIn(sees, key))', 'serviceKeys.filter(() => sees !== null)'),
  keyOperations("permission: 'projects:write'", "permission: 'keys:write'"),
  projects(
    '.filter(({ projectId }) => hasProject(sees, projectId))',
    '.filter(({ projectId }) => hasProject({}, projectId))',
  ),
  identity('if (password !== undefined) await', 'if (password === undefined) await'),
  totp('      await dependencies.sessions.logIn(email, password, code);\n', ''),
  proof('      isOfProvider(signOn.provider, username) &&\n', ''),
  // An entry that is missing, or says another thing.
  keys("action: 'key.created'", "action: 'key.rotated'"),
  members("action: 'member.role_changed'", "action: 'member.left'"),
  totp("      await dependencies.noteChange(user, 'user.totp_enabled', clientAddress);\n", ''),
  signOn("'member.joined'", "'user.signed_in'"),
];

import { auditOf, auditsOf, requireRoom } from '../../data/accounts/audit-log.ts';
import { hasKey, hasProject, scopeOf } from '../../domain/accounts/scope.ts';
import { invalid, NotFoundError } from '../../domain/errors.ts';
import type { AccessRule } from '../../domain/limits/access.ts';
import { MAX_ACCESS_RULES } from '../../domain/limits/access-rules.ts';
import { KNOWN_ON_KEYS_MS } from '../../domain/limits/limit-blocks.ts';
import { requireAsRead } from '../../http/as-read.ts';
import type { CallerInput, Implementations } from '../../http/operation.ts';
import { parseWith } from '../../http/parse-request.ts';
import { requireOwned } from '../keys/member-projects.ts';
import type { Settings } from '../open-settings.ts';
import * as operations from './access-operations.ts';
import { writePolicy } from './block-policy.ts';

const view = ({ scope: { key, project, role }, allowed, denied, ...rule }: AccessRule) => ({
  ...rule,
  scope: { key, project, role },
  allowed: allowed && [...allowed],
  denied: [...denied],
});

/** @throws ValidationError where the account has no such active key or project */
export const requireKnown = async (
  { keys, projects }: Pick<Settings, 'keys' | 'projects'>,
  accountId: string,
  { key, project }: AccessRule['scope'],
): Promise<void> => {
  if (key !== undefined && (await keys.find(accountId, key))?.status !== 'active')
    throw invalid('scope.key', `${key} is not an active key of the account`);
  await requireOwned({ keys, projects }, accountId, { project }, 'scope.');
};

/** @throws NotFoundError */
const findIn = (rules: readonly AccessRule[], id: string): AccessRule => {
  const rule = rules.find((each) => each.id === id);
  if (!rule) throw new NotFoundError('There is no such access rule.');
  return rule;
};

const auditOfRule = auditsOf(
  ({ id }: AccessRule) => id,
  ({ id: _, createdAt: _at, name, ...members }) => ({
    name,
    ...Object.fromEntries(Object.entries(members).map(([member, value]) => [member, JSON.stringify(value)])),
  }),
);

/**
 * Writes one rule, new or changed, with its entry in the audit log, and what keys must say for it to be in force.
 *
 * @param ruleOf the rule, by those that are stored: called again where others changed them meanwhile
 */
const write = async (
  dependencies: Settings,
  input: CallerInput,
  ruleOf: (stored: readonly AccessRule[]) => AccessRule,
) => {
  const { blocks, blockCopies, keys, users, now } = dependencies;
  const { accountId } = input.caller;
  const at = now();
  let rule = ruleOf((await blocks.read(accountId)).access);
  let before: AccessRule | undefined;
  await requireKnown(dependencies, accountId, rule.scope);
  if (rule.scope.project !== undefined || rule.scope.role !== undefined)
    await keys.copyRoles(
      accountId,
      async () => new Map((await users.recipients(accountId)).map(({ userId, role }) => [userId, role])),
      () => true,
    );
  await blockCopies.expect(accountId);
  await blocks.change(
    accountId,
    (stored) => {
      rule = ruleOf(stored.access);
      before = stored.access.find(({ id }) => id === rule.id);
      if (!before) requireRoom(stored.access, MAX_ACCESS_RULES, 'access rules');
      const access = before ? stored.access.map((each) => (each === before ? rule : each)) : [...stored.access, rule];
      return { ...stored, access };
    },
    () => {
      const action = before ? 'access_rule.changed' : 'access_rule.created';
      return [auditOfRule(input, action, rule, at, before)];
    },
  );
  await writePolicy(dependencies, accountId);
  return { ...view(rule), enforcedFrom: new Date(at.getTime() + KNOWN_ON_KEYS_MS).toISOString() };
};

export const manageAccess = (settings: Settings): Implementations<typeof operations> => ({
  listAccessRules: async ({ caller }) => {
    const { sees } = scopeOf(caller);
    const seen = (await settings.blocks.read(caller.accountId)).access.filter(
      ({ scope: { key, project } }) =>
        (key === undefined || hasKey(sees, key)) && (project === undefined || hasProject(sees, project)),
    );
    return { items: seen.map(view) };
  },

  createAccessRule: (from) => {
    const rule = {
      id: settings.newId(),
      ...from.body,
      createdAt: settings.now().toISOString(),
    };
    return write(settings, from, () => rule);
  },

  updateAccessRule: (from) =>
    write(settings, from, (stored) => {
      const { was, ...changes } = from.body;
      const rule = findIn(stored, from.params.id);
      requireAsRead(view(rule), was, changes);
      const { id, createdAt, ...previous } = rule;
      return { id, ...parseWith(operations.createAccessRule.body, { ...previous, ...changes }), createdAt };
    }),

  deleteAccessRule: async ({ caller, clientAddress, params: { id } }) => {
    await settings.blocks.change(
      caller.accountId,
      ({ access, ...others }) => {
        const rule = findIn(access, id);
        return { ...others, access: access.filter((each) => each !== rule) };
      },
      () => [auditOf({ caller, clientAddress }, { action: 'access_rule.deleted', subject: id }, settings.now())],
    );
    await writePolicy(settings, caller.accountId);
  },
});

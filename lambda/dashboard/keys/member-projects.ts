import * as z from 'zod/mini';
import type { Projects } from '../../data/accounts/projects.ts';
import { projectRoles, type Role } from '../../domain/accounts/permissions.ts';
import { invalid } from '../../domain/errors.ts';
import { described } from '../../http/parameters.ts';
import type { Settings } from '../open-settings.ts';

const MAX_MEMBER_PROJECTS = 50;

/** The projects that a member, an invitation or a token is limited to, as the API has them. */
export const memberProjects = described(
  z.nullable(
    z.array(z.string().check(z.minLength(1), z.maxLength(64))).check(z.minLength(1), z.maxLength(MAX_MEMBER_PROJECTS)),
  ),
  `Ids of the projects that alone are seen: their keys, spend, requests, sessions, limits and alerts. Null: all. Only for the roles ${projectRoles.join(', ')}.`,
);

/** @throws ValidationError where the account does not have one of the projects */
export const requireOwnProjects = async (
  projects: Pick<Projects, 'list'>,
  accountId: string,
  wanted: readonly string[],
  path: string,
): Promise<void> => {
  if (wanted.length === 0) return;
  const known = (await projects.list(accountId)).map(({ projectId }) => projectId);
  const unknown = wanted.find((each) => !known.includes(each));
  if (unknown !== undefined) throw invalid(path, `${unknown} is not a project of the account`);
};

/**
 * @param path of the members, with a dot at its end
 * @throws ValidationError where the account never had the key, or does not have the project
 */
export const requireOwned = async (
  { keys, projects }: Pick<Settings, 'keys' | 'projects'>,
  accountId: string,
  { key, project }: { readonly key?: string | null | undefined; readonly project?: string | null | undefined },
  path = '',
): Promise<void> => {
  if (key != null && !(await keys.find(accountId, key)))
    throw invalid(`${path}key`, `${key} is not a key of the account`);
  await requireOwnProjects(projects, accountId, project == null ? [] : [project], `${path}project`);
};

/** @throws ValidationError for a role that sees the whole account, and for a project that the account does not have */
export const requireProjects = async (
  projects: Pick<Projects, 'list'>,
  accountId: string,
  role: Role,
  wanted: readonly string[] | null | undefined,
  path = 'projects',
): Promise<void> => {
  if (!wanted) return;
  if (!(projectRoles as readonly Role[]).includes(role))
    throw invalid(path, `must be null: the role ${role} is for the whole account`);
  await requireOwnProjects(projects, accountId, wanted, path);
};

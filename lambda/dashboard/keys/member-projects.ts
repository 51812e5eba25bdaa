import * as z from 'zod/mini';
import type { Projects } from '../../data/accounts/projects.ts';
import { projectRoles, type Role } from '../../domain/accounts/permissions.ts';
import { invalid } from '../../domain/errors.ts';

const MAX_MEMBER_PROJECTS = 50;

/** The projects that a member, an invitation or a token is limited to, as the API has them. */
export const memberProjects = z
  .nullable(
    z.array(z.string().check(z.minLength(1), z.maxLength(64))).check(z.minLength(1), z.maxLength(MAX_MEMBER_PROJECTS)),
  )
  .check(
    z.describe(
      `Ids of the projects that alone are seen: their keys, spend, requests, sessions, limits and alerts. Null: all. Only for the roles ${projectRoles.join(', ')}.`,
    ),
  );

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
  const known = (await projects.list(accountId)).map(({ projectId }) => projectId);
  const unknown = wanted.find((each) => !known.includes(each));
  if (unknown !== undefined) throw invalid(path, `${unknown} is not a project of the account`);
};

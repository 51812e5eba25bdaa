import * as z from 'zod/mini';
import { DEFAULT_PROJECT_ID } from '../../domain/accounts/scope.ts';
import { ConflictError, NotFoundError } from '../../domain/errors.ts';
import { type Action, EXISTS, IS_NEW, put, remove, update } from '../table/actions.ts';
import { accountApiTokenKey, accountUserKey, invitationKey, projectKey } from '../table/keys.ts';
import { listItems } from '../table/read.ts';
import type { Table } from '../table/table.ts';
import { transact } from '../table/write.ts';
import { type AuditEntry, putAudit, withRoom } from './audit-log.ts';

const projectSchema = z.object({
  projectId: z.string(),
  name: z.string(),
  /** ISO 8601 UTC. Null for the default project, which is there from the beginning. */
  createdAt: z.nullable(z.string()),
});

export type Project = z.infer<typeof projectSchema>;

const limitedSchema = z.object({
  email: z.optional(z.string()),
  name: z._default(z.string(), ''),
  projects: z._default(z.array(z.string()), []),
});

const MAX_PROJECTS = 100;

const defaultProject: Project = { projectId: DEFAULT_PROJECT_ID, name: 'Default', createdAt: null };

/**
 * The action that counts a key into a project or out of it. It fails for a project that does not exist. The default project is no item
 * until it is renamed, cannot be deleted, and so counts no keys.
 */
export const countKey = (accountId: string, projectId: string, change: 1 | -1): Action[] =>
  projectId === DEFAULT_PROJECT_ID
    ? []
    : [update(projectKey(accountId, projectId), 'ADD keyCount :change', EXISTS, { change })];

export const openProjects = (table: Table) => {
  const list = async (accountId: string): Promise<Project[]> => {
    const projects = await listItems(table, projectKey(accountId, ''), projectSchema.parse);
    const others = projects.filter(({ projectId }) => projectId !== DEFAULT_PROJECT_ID);
    return [projects.find(({ projectId }) => projectId === DEFAULT_PROJECT_ID) ?? defaultProject, ...others];
  };

  return {
    /** The default project, then the others, oldest first. */
    list,

    /** @throws LimitReachedError */
    create: (project: Project, audit: AuditEntry): Promise<void> => {
      const { accountId } = audit;
      const entry = withRoom(audit, () => list(accountId), MAX_PROJECTS, 'projects');
      const item = { ...projectKey(accountId, project.projectId), ...project, keyCount: 0 };
      return transact(table, [put(item, IS_NEW), putAudit(entry)]);
    },

    /** @throws NotFoundError */
    rename: async (projectId: string, name: string, audit: AuditEntry): Promise<void> => {
      const key = projectKey(audit.accountId, projectId);
      const rename =
        projectId === DEFAULT_PROJECT_ID
          ? put({ ...key, ...defaultProject, name })
          : update(key, 'SET #name = :name', EXISTS, { name });
      await transact(table, [rename, putAudit(audit)], () => new NotFoundError('There is no such project.'));
    },

    /** Who is limited to a project, and maybe others: addresses of members and of people who are invited, names of API tokens. */
    limitedTo: async (accountId: string, projectId: string): Promise<string[]> => {
      const all = await Promise.all(
        [accountUserKey, invitationKey, accountApiTokenKey].map((key) =>
          listItems(table, key(accountId, ''), limitedSchema.parse),
        ),
      );
      return all.flat().flatMap(({ projects, email, name }) => (projects.includes(projectId) ? (email ?? name) : []));
    },

    /**
     * Deletes a project that has no keys: spend of a key is shown under its project, also of a revoked one.
     *
     * @throws NotFoundError
     * @throws ConflictError for the default project, and for one with keys
     */
    remove: async (projectId: string, audit: AuditEntry): Promise<void> => {
      const { accountId } = audit;
      if (projectId === DEFAULT_PROJECT_ID) throw new ConflictError('The default project cannot be deleted.');
      await transact(
        table,
        [remove(projectKey(accountId, projectId), 'keyCount = :none', { none: 0 }), putAudit(audit)],
        async () =>
          (await list(accountId)).some((project) => project.projectId === projectId)
            ? new ConflictError('The project has keys. Move them to another project first, also revoked ones.')
            : new NotFoundError('There is no such project.'),
      );
    },
  };
};

export type Projects = ReturnType<typeof openProjects>;

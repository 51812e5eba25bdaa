import * as z from 'zod/mini';
import { DEFAULT_PROJECT_ID } from '../../domain/accounts/project.ts';
import { ConflictError, LimitReachedError, NotFoundError } from '../../domain/errors.ts';
import { accountKey, projectKey } from '../table/keys.ts';
import { queryItems } from '../table/query-items.ts';
import type { Table } from '../table/table.ts';
import { ConditionsFailedError, type TransactionItems, transact } from '../table/transact.ts';
import { type AuditEntry, putAudit } from './audit-log.ts';

const projectSchema = z.object({
  projectId: z.string(),
  name: z.string(),
  /** ISO 8601 UTC. Null for the default project, which is there from the beginning. */
  createdAt: z.nullable(z.string()),
});

export type Project = z.infer<typeof projectSchema>;

const MAX_PROJECTS = 100;

const defaultProject: Project = { projectId: DEFAULT_PROJECT_ID, name: 'Default', createdAt: null };

/**
 * The action that counts a key into a project or out of it. It fails for a project that does not exist. The default project is no item
 * until it is renamed, cannot be deleted, and so counts no keys.
 */
export const countKey = (
  tableName: string,
  accountId: string,
  projectId: string,
  change: 1 | -1,
): TransactionItems[number][] =>
  projectId === DEFAULT_PROJECT_ID
    ? []
    : [
        {
          Update: {
            TableName: tableName,
            Key: projectKey(accountId, projectId),
            UpdateExpression: 'ADD keyCount :change',
            ConditionExpression: 'attribute_exists(pk)',
            ExpressionAttributeValues: { ':change': change },
          },
        },
      ];

export const openProjects = (table: Table) => {
  const { name: tableName } = table;

  const list = async (accountId: string): Promise<Project[]> => {
    const projects: Project[] = [];
    for await (const item of queryItems(table, {
      KeyConditionExpression: 'pk = :pk AND begins_with(sk, :projects)',
      ExpressionAttributeValues: { ':pk': accountKey(accountId).pk, ':projects': projectKey(accountId, '').sk },
      ConsistentRead: true,
    })) {
      projects.push(projectSchema.parse(item));
    }
    const others = projects.filter(({ projectId }) => projectId !== DEFAULT_PROJECT_ID);
    return [projects.find(({ projectId }) => projectId === DEFAULT_PROJECT_ID) ?? defaultProject, ...others];
  };

  return {
    /** The default project, then the others, oldest first. */
    list,

    /** @throws LimitReachedError */
    create: async (project: Project, audit: AuditEntry): Promise<void> => {
      const { accountId } = audit;
      if ((await list(accountId)).length >= MAX_PROJECTS)
        throw new LimitReachedError(`An account may have ${MAX_PROJECTS} projects. Delete one first.`);
      const Item = { ...projectKey(accountId, project.projectId), ...project, keyCount: 0 };
      await transact(table, [
        { Put: { TableName: tableName, Item, ConditionExpression: 'attribute_not_exists(pk)' } },
        putAudit(tableName, audit),
      ]);
    },

    /** @throws NotFoundError */
    rename: async (projectId: string, name: string, audit: AuditEntry): Promise<void> => {
      const Key = projectKey(audit.accountId, projectId);
      const isDefault = projectId === DEFAULT_PROJECT_ID;
      const rename = isDefault
        ? { Put: { TableName: tableName, Item: { ...Key, ...defaultProject, name } } }
        : {
            Update: {
              TableName: tableName,
              Key,
              UpdateExpression: 'SET #name = :name',
              ConditionExpression: 'attribute_exists(pk)',
              ExpressionAttributeNames: { '#name': 'name' },
              ExpressionAttributeValues: { ':name': name },
            },
          };
      try {
        await transact(table, [rename, putAudit(tableName, audit)]);
      } catch (error) {
        if (!(error instanceof ConditionsFailedError)) throw error;
        throw new NotFoundError('There is no such project.');
      }
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
      try {
        await transact(table, [
          {
            Delete: {
              TableName: tableName,
              Key: projectKey(accountId, projectId),
              ConditionExpression: 'keyCount = :none',
              ExpressionAttributeValues: { ':none': 0 },
            },
          },
          putAudit(tableName, audit),
        ]);
      } catch (error) {
        if (!(error instanceof ConditionsFailedError)) throw error;
        const exists = (await list(accountId)).some((project) => project.projectId === projectId);
        throw exists
          ? new ConflictError('The project has keys. Move them to another project first, also revoked ones.')
          : new NotFoundError('There is no such project.');
      }
    },
  };
};

export type Projects = ReturnType<typeof openProjects>;

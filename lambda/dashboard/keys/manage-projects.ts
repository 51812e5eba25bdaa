import { auditOf } from '../../data/accounts/audit-log.ts';
import type { Project } from '../../data/accounts/projects.ts';
import { DEFAULT_PROJECT_ID, hasProject, isIn, scopeOf } from '../../domain/accounts/scope.ts';
import { ConflictError } from '../../domain/errors.ts';
import type { Implementation, Implementations } from '../../http/operation.ts';
import type { Settings } from '../open-settings.ts';
import { withoutOld } from './manage-keys.ts';
import type * as operations from './operations.ts';

const view = ({ projectId, name, createdAt }: Project) => ({
  id: projectId,
  name,
  isDefault: projectId === DEFAULT_PROJECT_ID,
  createdAt,
});

export const listProjects =
  ({ projects, keys }: Pick<Settings, 'projects' | 'keys'>): Implementation<typeof operations.listProjects> =>
  async ({ caller }) => {
    const { accountId } = caller;
    const { sees } = scopeOf(caller);
    const [all, serviceKeys] = await Promise.all([projects.list(accountId), keys.list(accountId)]);
    const keysOf = Map.groupBy(
      serviceKeys.filter((key) => isIn(sees, key)),
      ({ projectId }) => projectId,
    );
    // An account has 100 projects at most, and a response of Lambda 6 MB.
    const keyIdsOf = (projectId: string) => withoutOld(keysOf.get(projectId) ?? [], 1_000).map(({ keyId }) => keyId);
    const seen = all.filter(({ projectId }) => hasProject(sees, projectId));
    return { items: seen.map((project) => ({ ...view(project), keys: keyIdsOf(project.projectId) })) };
  };

const MOST_NAMES = 10;

export const manageProjects = (
  settings: Settings,
): Implementations<typeof operations, 'listProjects' | 'createProject' | 'renameProject' | 'deleteProject'> => ({
  listProjects: listProjects(settings),

  createProject: async ({ caller, clientAddress, body: { name } }) => {
    const project = { projectId: settings.newId(), name, createdAt: settings.now().toISOString() };
    const fact = { action: 'project.created', subject: project.projectId, details: { name } } as const;
    await settings.projects.create(project, auditOf({ caller, clientAddress }, fact, settings.now()));
    return view(project);
  },

  renameProject: async ({ caller, clientAddress, params: { id }, body: { name } }) => {
    const previous = (await settings.projects.list(caller.accountId)).find(({ projectId }) => projectId === id);
    const before = previous && { name: previous.name };
    const fact = { action: 'project.renamed', subject: id, details: { name }, before } as const;
    await settings.projects.rename(id, name, auditOf({ caller, clientAddress }, fact, settings.now()));
  },

  deleteProject: async ({ caller, clientAddress, params: { id } }) => {
    const requires = async () => {
      await settings.rules.requireNoFilter(caller.accountId, ({ project }) =>
        project === id ? 'the project' : undefined,
      );
      // They would see nothing.
      const limited = await settings.projects.limitedTo(caller.accountId, id);
      if ((await settings.accounts.find(caller.accountId))?.signOn?.defaultProjects?.includes(id))
        limited.push('single sign-on');
      if (limited.length > 0) {
        const names = limited.length > MOST_NAMES ? [...limited.slice(0, MOST_NAMES), 'others'] : limited;
        throw new ConflictError(`Limited to this project: ${names.join(', ')}. Change or remove that first.`);
      }
    };
    const fact = { action: 'project.deleted', subject: id } as const;
    await settings.projects.remove(id, { ...auditOf({ caller, clientAddress }, fact, settings.now()), requires });
  },
});

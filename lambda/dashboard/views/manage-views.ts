import { auditsOf, requireRoom } from '../../data/accounts/audit-log.ts';
import type { SavedView } from '../../data/accounts/saved-views.ts';
import { MAX_VIEWS, nameOutside, namesOf, searchProblem } from '../../domain/accounts/saved-view.ts';
import { scopeOf } from '../../domain/accounts/scope.ts';
import { ConflictError, invalid, NotFoundError } from '../../domain/errors.ts';
import { requireAsRead } from '../../http/as-read.ts';
import type { Caller, Implementations } from '../../http/operation.ts';
import type { Settings } from '../open-settings.ts';
import type * as operations from './operations.ts';

const shown = ({ viewId, ...view }: SavedView) => ({ id: viewId, ...view });

const isSeen =
  (caller: Caller) =>
  (view: SavedView): boolean => {
    const { sees, permits } = scopeOf(caller);
    return (view.page !== 'requests' || permits('requests:read')) && !nameOutside(sees, view);
  };

/** @throws ConflictError where the page has another view of the name that the caller sees */
const requireFreeName = (caller: Caller, { viewId, page, name }: SavedView, all: readonly SavedView[]): void => {
  const isTaken = (other: SavedView) => other.viewId !== viewId && other.page === page && other.name === name;
  if (all.some((other) => isTaken(other) && isSeen(caller)(other)))
    throw new ConflictError(`The page has a view with the name "${name}". Change that one, or choose another name.`);
};

/**
 * @throws ValidationError where the page has no such settings, or they name a key, project or member that the account never had, or the
 * caller does not see
 */
const requireKnown = async ({ keys, projects, users }: Settings, caller: Caller, view: SavedView): Promise<void> => {
  const { accountId } = caller;
  const message = searchProblem(view.page, view.search);
  if (message !== undefined) throw invalid('search', message);
  const outside = nameOutside(scopeOf(caller).sees, view);
  // `(other)` and its like stand for several.
  const names = namesOf(view).filter(({ value }) => !value.startsWith('('));
  if (!outside && names.length === 0) return;
  const [allKeys, allProjects, members] = await Promise.all([
    keys.list(accountId),
    projects.list(accountId),
    users.recipients(accountId),
  ]);
  const known: Record<string, (string | undefined)[]> = {
    key: allKeys.map(({ keyId }) => keyId),
    project: allProjects.map(({ projectId }) => projectId),
    // Those who left are found by their keys.
    member: [...members.map(({ userId }) => userId), ...allKeys.map(({ ownerUserId }) => ownerUserId)],
  };
  const unknown = outside ?? names.find(({ name, value }) => !known[name]?.includes(value));
  if (unknown) throw invalid('search', `${unknown.value} is not a ${unknown.name} of the account`);
};

const auditOfView = auditsOf(
  ({ viewId }: SavedView) => viewId,
  ({ name, page, search }) => ({ name, page, search }),
);

/** @throws NotFoundError */
const findIn = (all: readonly SavedView[], id: string): SavedView => {
  const view = all.find(({ viewId }) => viewId === id);
  if (!view) throw new NotFoundError('There is no such view.');
  return view;
};

export const manageViews = (settings: Settings): Implementations<typeof operations> => ({
  listViews: async ({ caller }) => ({
    items: (await settings.views.list(caller.accountId))
      .filter(isSeen(caller))
      .sort((a, b) => a.name.localeCompare(b.name, 'en'))
      .map(shown),
    limit: MAX_VIEWS,
  }),

  createView: async ({ caller, clientAddress, body }) => {
    const { views, newId, now } = settings;
    const at = now();
    const view = { viewId: newId(), ...body, createdAt: at.toISOString(), updatedAt: at.toISOString() };
    const requires = async () => {
      const all = await views.list(caller.accountId);
      requireFreeName(caller, view, all);
      await requireKnown(settings, caller, view);
      requireRoom(all, MAX_VIEWS, 'views');
    };
    const audit = auditOfView({ caller, clientAddress }, 'view.created', view, at);
    await views.create(view, { ...audit, requires });
    return shown(view);
  },

  changeView: async ({ caller, clientAddress, params: { id }, body: { name, search, was } }) => {
    const { views, now } = settings;
    const at = now();
    const list = () => views.list(caller.accountId);
    const before = findIn((await list()).filter(isSeen(caller)), id);
    requireAsRead(before, was, { name, search });
    const view = {
      ...before,
      name: name ?? before.name,
      search: search ?? before.search,
      updatedAt: at.toISOString(),
    };
    const requires = async () => {
      if (name !== undefined) requireFreeName(caller, view, await list());
      if (search !== undefined) await requireKnown(settings, caller, view);
    };
    const audit = auditOfView({ caller, clientAddress }, 'view.changed', view, at, before);
    await views.replace(view, before, { ...audit, requires });
    return shown(view);
  },

  deleteView: async ({ caller, clientAddress, params: { id } }) => {
    const view = findIn((await settings.views.list(caller.accountId)).filter(isSeen(caller)), id);
    await settings.views.remove(id, auditOfView({ caller, clientAddress }, 'view.deleted', view, settings.now()));
  },
});

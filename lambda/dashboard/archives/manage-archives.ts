import { ARCHIVE_DAYS, type Archive } from '../../data/accounts/archives.ts';
import { auditOf } from '../../data/accounts/audit-log.ts';
import { DAY_MS, MINUTE_MS } from '../../domain/calendar/units.ts';
import { ConflictError } from '../../domain/errors.ts';
import { ARCHIVE_FILE, archiveObjectKey } from '../../domain/object-keys.ts';
import type { Implementations } from '../../http/operation.ts';
import type { Files } from '../open-files.ts';
import type * as operations from './operations.ts';

const LINK_MINUTES = 15;

const view = ({ archiveId, ...archive }: Archive) => ({ id: archiveId, ...archive });

/** Archives that are there, or on their way. */
const current = (archives: readonly Archive[], now: Date): Archive[] => {
  const since = new Date(now.getTime() - ARCHIVE_DAYS * DAY_MS).toISOString();
  return archives.filter(
    ({ requestedAt, availableUntil }) => (availableUntil ?? requestedAt) > (availableUntil ? now.toISOString() : since),
  );
};

export const manageArchives = (files: Files): Implementations<typeof operations> => ({
  createArchive: async ({ caller, clientAddress }) => {
    const { accountId, name: requestedBy } = caller;
    const at = files.now();
    const requires = async () => {
      if ((await files.archives.list(accountId)).items.some(({ status }) => status === 'pending'))
        throw new ConflictError('An archive is being written already. Wait until it is there.');
    };
    const archive: Archive = {
      archiveId: files.newId(),
      accountId,
      status: 'pending',
      progress: 0,
      requestedAt: at.toISOString(),
      requestedBy,
      bytes: null,
      availableUntil: null,
      checkpoint: null,
    };
    const fact = { action: 'archive.requested', subject: archive.archiveId } as const;
    await files.archives.create(archive, { ...auditOf({ caller, clientAddress }, fact, at), requires });
    return view(archive);
  },

  listArchives: async ({ caller }) => {
    const { items, unreadable } = await files.archives.list(caller.accountId);
    return { items: current(items, files.now()).map(view), unreadable: unreadable.length || undefined };
  },

  linkArchive: async ({ caller, clientAddress, params: { id } }) => {
    const { accountId } = caller;
    const { status, availableUntil } = await files.archives.find(accountId, id);
    const at = files.now();
    if (status !== 'ready' || (availableUntil ?? '') <= at.toISOString())
      throw new ConflictError('The archive is not ready, or not available any more.');
    await files.audit.record(auditOf({ caller, clientAddress }, { action: 'archive.downloaded', subject: id }, at));
    return {
      url: await files.objects.signGet(archiveObjectKey(accountId, id, ARCHIVE_FILE), LINK_MINUTES * 60),
      validUntil: new Date(at.getTime() + LINK_MINUTES * MINUTE_MS).toISOString(),
    };
  },
});

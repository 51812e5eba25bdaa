import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import type { Logger } from '@aws-lambda-powertools/logger';
import { pack } from 'tar-stream';
import { ARCHIVE_DAYS, type Archive, type ArchiveCheckpoint, type Archives } from '../data/accounts/archives.ts';
import { DAY_MS } from '../domain/calendar/units.ts';
import { ARCHIVE_FILE, archiveObjectKey } from '../domain/object-keys.ts';
import type { ObjectStore } from '../integrations/object-store.ts';
import type { ArchiveFiles } from './archive-files.ts';

interface ArchiveDependencies {
  readonly archives: Pick<Archives, 'find' | 'write'>;
  readonly files: ArchiveFiles;
  readonly objects: Pick<ObjectStore, 'beginUpload' | 'uploadPart' | 'completeUpload' | 'abortUpload' | 'put' | 'get'>;
  readonly now: () => Date;
  readonly logger: Pick<Logger, 'info'>;
  /** A part of an upload has at least 5 MiB. */
  readonly partBytes?: number;
}

const PART_BYTES = 6 * 1024 * 1024;
const END_OF_TAR = Buffer.alloc(1_024);
const DOWNLOAD = { contentType: 'application/gzip', filename: ARCHIVE_FILE };

/** One file as a gzip member of its own: members one after the other are one gzip file, so each run of the job may write some. */
const memberOf = async (name: string, text: string, mtime: Date): Promise<Buffer> => {
  const tar = pack();
  tar.entry({ name: `ai-spend/${name}`, mtime }, text);
  tar.finalize();
  const whole = await buffer(tar);
  return gzipSync(whole.subarray(0, whole.length - END_OF_TAR.length));
};

/**
 * Goes on with an archive where the last run stopped, and writes down how far it is with each part that the store has. A crash costs what was
 * read since then.
 */
export const writeArchive =
  ({ archives, files, objects, now, logger, partBytes = PART_BYTES }: ArchiveDependencies) =>
  async (accountId: string, archiveId: string, isLate: () => boolean): Promise<void> => {
    const archive: Archive = await archives.find(accountId, archiveId);
    if (archive.status !== 'pending') return;
    const key = archiveObjectKey(accountId, archiveId, ARCHIVE_FILE);
    const requestedAt = new Date(archive.requestedAt);
    const begin = async (): Promise<ArchiveCheckpoint> => ({
      uploadId: await objects.beginUpload(key, DOWNLOAD),
      tags: [],
      rest: null,
      bytes: 0,
      section: 0,
      after: null,
      file: 0,
    });
    let checkpoint = archive.checkpoint ?? (await begin());
    const { uploadId } = checkpoint;
    let bytes = checkpoint.bytes;
    const tags = [...checkpoint.tags];
    let waiting: Buffer[] = checkpoint.rest === null ? [] : [Buffer.from((await objects.get(checkpoint.rest)) ?? [])];
    const size = () => waiting.reduce((sum, each) => sum + each.length, 0);

    const upload = async () => {
      const part = Buffer.concat(waiting);
      tags.push(await objects.uploadPart(key, uploadId, tags.length + 1, part));
      bytes += part.length;
      waiting = [];
    };
    let sections = 1;
    const save = async (rest: string | null, dueAt: Date) => {
      checkpoint = { ...checkpoint, tags, bytes, rest };
      const progress = Math.floor((100 * checkpoint.section) / sections);
      await archives.write(archive, { checkpoint, progress, failures: 0 }, dueAt.toISOString());
    };
    /** Stops here: the next run begins with what is too short for a part. */
    const stop = async () => {
      const { section, file } = checkpoint;
      const rest = archiveObjectKey(accountId, archiveId, `rest-${tags.length}-${section}-${file}`);
      await objects.put(rest, Buffer.concat(waiting), { contentType: 'application/octet-stream' });
      await save(rest, now());
    };

    for await (const { next, sections: all, ...file } of files.read(accountId, requestedAt, checkpoint)) {
      sections = all;
      if ('name' in file) waiting.push(await memberOf(file.name, file.text, requestedAt));
      checkpoint = { ...checkpoint, ...next };
      if (size() >= partBytes) {
        await upload();
        // Due as it is: a run that crashes now is repeated.
        await save(null, requestedAt);
      }
      if (isLate()) return stop();
    }
    waiting.push(gzipSync(END_OF_TAR));
    await upload();
    await objects.completeUpload(key, uploadId, tags);
    const availableUntil = new Date(now().getTime() + ARCHIVE_DAYS * DAY_MS).toISOString();
    await archives.write(archive, { status: 'ready', progress: 100, bytes, availableUntil, checkpoint: null }, null);
    logger.info('archive written', { accountId, archiveId, bytes });
  };

/** An archive ends after this number of failures. The next request for one begins from the start. */
const MAX_FAILURES = 5;

/** A failed archive is tried again from its checkpoint, or from its beginning where its upload is gone. */
export const failArchive =
  ({ archives, objects }: Pick<ArchiveDependencies, 'archives' | 'objects'>) =>
  async (accountId: string, archiveId: string, dueAt: (failures: number) => Date, error: unknown): Promise<number> => {
    const archive = await archives.find(accountId, archiveId);
    const failures = (archive.failures ?? 0) + 1;
    const isOver = failures >= MAX_FAILURES;
    const isUploadGone = error instanceof Error && error.name === 'NoSuchUpload';
    if (isOver && archive.checkpoint)
      await objects.abortUpload(archiveObjectKey(accountId, archiveId, ARCHIVE_FILE), archive.checkpoint.uploadId);
    await archives.write(
      archive,
      { failures, ...(isOver && { status: 'failed' as const }), ...((isOver || isUploadGone) && { checkpoint: null }) },
      isOver ? null : dueAt(failures).toISOString(),
    );
    return failures;
  };

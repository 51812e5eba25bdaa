/**
 * Every object key is built here and nowhere else. A key begins with its kind and the account, so that a function gets rights to the
 * kinds it uses, and the objects of an account can be found.
 */

/** Archives of everything an account has, for its owner to download. */
export const ARCHIVES = 'archives';

/** Cost and usage, and request records, of each day. */
export const EXPORTS = 'exports';

/** Request records that have left the table: a file for each day. */
export const DAY_FILES = 'requests';

/** Tag of objects that end before the others of their kind: after the days of a plan. */
export const RETENTION_TAG = 'retention-days';

/** Every kind of objects of an account. What is not here, the deletion of an account does not find. */
export const OBJECT_KINDS = [ARCHIVES, EXPORTS, DAY_FILES] as const;
type ObjectKind = (typeof OBJECT_KINDS)[number];

/** @param accountId internal id */
const objectPrefix = (kind: ObjectKind, accountId: string): string => `${kind}/${accountId}/`;

/** Prefix of the keys of all of an account's objects. */
export const objectPrefixes = (accountId: string): string[] =>
  OBJECT_KINDS.map((kind) => objectPrefix(kind, accountId));

/** @param name of the file: the archive, or a part of it that is not complete yet */
export const archiveObjectKey = (accountId: string, archiveId: string, name: string): string =>
  `${objectPrefix(ARCHIVES, accountId)}${archiveId}/${name}`;

/** Name of a complete archive, also of the download. */
export const ARCHIVE_FILE = 'ai-spend-archive.tar.gz';

/**
 * The export of a dataset and day. A partition of Athena's table is the folder of a day, so that nothing else may be in it.
 *
 * @param day `2026-11-20`
 */
export const exportKey = (accountId: string, dataset: string, format: 'parquet' | 'csv', day: string): string => {
  const folder = `${objectPrefix(EXPORTS, accountId)}${dataset}/${format}/${day}`;
  return `${folder}/${dataset}-${day}.${format === 'csv' ? 'csv.gz' : format}`;
};

/** Which files a day has by now: it is written after them. */
export const manifestKey = (accountId: string, day: string): string =>
  `${objectPrefix(EXPORTS, accountId)}manifests/${day}.json`;

/** Prefix of the keys of what the audit log was on each day that is exported. */
export const auditHeadPrefix = (accountId: string): string => `${objectPrefix(EXPORTS, accountId)}audit/`;

/** @param day `2026-11-20` */
export const auditHeadObjectKey = (accountId: string, day: string): string =>
  `${auditHeadPrefix(accountId)}${day}.json`;

/** Prefix of the keys of all versions of a day's file. */
export const dayFilePrefix = (accountId: string, day: string): string => `${objectPrefix(DAY_FILES, accountId)}${day}/`;

/** @param version a file is never written again: another version has another key */
export const dayFileObjectKey = (accountId: string, day: string, version: string): string =>
  `${dayFilePrefix(accountId, day)}${version}.ndjson.gz`;

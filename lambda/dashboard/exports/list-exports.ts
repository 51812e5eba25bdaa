import { type Exported, exportChanges } from '../../data/exports/day-exports.ts';
import { scopeOf } from '../../domain/accounts/scope.ts';
import { DAY_MS, HOUR_MS } from '../../domain/calendar/units.ts';
import { addDays, type Day, dayOf, isMonth } from '../../domain/calendar/utc.ts';
import { invalid } from '../../domain/errors.ts';
import {
  type DatasetName,
  datasetNames,
  type ExportFormat,
  exportFormats,
  MAX_LISTED_DAYS,
} from '../../domain/exports/datasets.ts';
import { exportKey } from '../../domain/object-keys.ts';
import type { Caller, Implementations } from '../../http/operation.ts';
import type { Files } from '../open-files.ts';
import type * as operations from './operations.ts';

type Opened = Pick<Files, 'dayExports' | 'marks' | 'objects' | 'now'>;

const DEFAULT_DAYS = 30;
const LINK_SECONDS = 900;
/** By then a day was tried more than once. */
const LATE_MS = 2 * HOUR_MS;
/** Whether the files of request records may be deleted by now. */
const hasExpired = ({ at, requestRetentionDays }: Exported, now: Date): boolean =>
  requestRetentionDays !== undefined && Date.parse(at) + requestRetentionDays * DAY_MS <= now.getTime();

/** The datasets that a caller may read. */
const datasetsFor = (caller: Caller): DatasetName[] =>
  datasetNames.filter((name) => name !== 'requests' || scopeOf(caller).permits('requests:read'));

const sumsOf = ({ at, files: _, ...sums }: Exported) => ({ exportedAt: at, ...sums });

/** Signs links to the files of days. */
const openLinks = ({ objects, now }: Opened, accountId: string) => {
  const urlExpiresAt = new Date(now().getTime() + LINK_SECONDS * 1_000).toISOString();
  return async (day: Day, exported: Exported, dataset: DatasetName, format: ExportFormat) => {
    const file = exported.files[`${dataset}/${format}`];
    if (file === undefined || (dataset === 'requests' && hasExpired(exported, now()))) return [];
    const url = await objects.signGet(exportKey(accountId, dataset, format, day), LINK_SECONDS);
    const { rows, bytes, sha256 = null } = file;
    return [{ dataset, format, rows, bytes, sha256, url, urlExpiresAt }];
  };
};

/** Time of an export and its day, which sort as the list does. */
const CURSOR = /^[\dTZ:.-]{24}#\d{4}-\d{2}-\d{2}$/;

export const readExports = (files: Opened): Implementations<typeof operations> => ({
  listExports: async ({ caller, query }) => {
    const { accountId } = caller;
    const now = files.now();
    const to = query.to ?? dayOf(now.toISOString());
    const from = query.from ?? addDays(to, -DEFAULT_DAYS);
    if (from > to || addDays(from, MAX_LISTED_DAYS) <= to)
      throw invalid('from', `must be up to ${MAX_LISTED_DAYS - 1} days before to`);
    const names = datasetsFor(caller).filter((name) => query.dataset === undefined || name === query.dataset);
    const [days, marked] = await Promise.all([
      files.dayExports.list(accountId, from, to),
      files.marks.list(accountId, from, to),
    ]);
    const due = new Map(days.flatMap(({ day, dueSince }) => (dueSince === null ? [] : [[day, dueSince]])));
    // A day is exported after its rollup. A month's mark is of no day.
    for (const { period, dueAt } of marked)
      if (!isMonth(period) && period < dayOf(now.toISOString()) && !due.has(period)) due.set(period, dueAt);
    const linkTo = openLinks(files, accountId);
    const items = [];
    for (const { day, exported } of days) {
      if (exported === null) continue;
      for (const dataset of names)
        for (const file of await linkTo(day, exported, dataset, query.format))
          items.push({ day, ...file, ...sumsOf(exported) });
    }
    const exportedDays = new Set(days.filter(({ exported }) => exported !== null).map(({ day }) => day));
    const waiting = [...due]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([day, since]) => ({
        day,
        since,
        isExported: exportedDays.has(day),
        isLate: Date.parse(since) + LATE_MS < now.getTime(),
      }));
    return { items, waiting };
  },

  listExportChanges: async ({ caller, query: { cursor, limit } }) => {
    const { accountId } = caller;
    if (cursor !== undefined && !CURSOR.test(cursor)) throw invalid('cursor', 'must be nextCursor of a call before');
    const changed = await exportChanges(files.dayExports, accountId, cursor, files.now());
    const page = changed.slice(0, limit);
    const linkTo = openLinks(files, accountId);
    const items = [];
    for (const { day, exported } of page) {
      const files = [];
      for (const dataset of datasetsFor(caller))
        for (const format of exportFormats) files.push(...(await linkTo(day, exported, dataset, format)));
      items.push({ day, ...sumsOf(exported), files });
    }
    return { items, nextCursor: page.at(-1)?.at ?? cursor ?? null, hasMore: page.length < changed.length };
  },
});

import * as z from 'zod/mini';
import { datasetNames, exportFormats, MAX_LISTED_DAYS } from '../../domain/exports/datasets.ts';
import { component, forMachines, inGroup, ok } from '../../http/operation.ts';
import { count, day, described, pageParameters } from '../../http/parameters.ts';

const link = {
  url: described(z.url(), 'Anybody who has the link can download the file until `urlExpiresAt`.'),
  urlExpiresAt: z.iso.datetime(),
};

const file = {
  dataset: z.enum(datasetNames),
  format: z.enum(exportFormats),
  rows: count,
  bytes: count,
  sha256: described(z.nullable(z.string()), 'SHA-256 of the file, in hex. Null for files of an earlier version.'),
};

const sums = {
  exportedAt: described(z.iso.datetime(), 'The version of the day: a later one replaces it as a whole.'),
  requests: described(count, 'Requests of the day.'),
  costNanoUsd: described(count, 'Sum of all known costs of the day, in 1e-9 USD.'),
  unpricedRequests: described(
    count,
    'Requests of unknown cost: they are rows of `requests`, and have none in `cost-and-usage`.',
  ),
};

const dayExport = component('Export', { day, ...file, ...sums, ...link });

const dayChange = component('ExportChange', { day, ...sums, files: z.array(z.object({ ...file, ...link })) });

const waitingDay = component('WaitingExport', {
  day,
  since: described(z.iso.datetime(), 'The export has been due since.'),
  isExported: described(z.boolean(), 'The day changed after it was exported: its files are stale.'),
  isLate: described(z.boolean(), 'Due for more than two hours: exports may be failing.'),
});

const operation = inGroup('Exports');

export const listExports = operation('listExports', 'GET /exports', {
  summary: 'List exported days, with links to download them',
  description: `Each day is exported after it is rolled up, about an hour after its end, and again as a whole when a late event or a new price changes it. \`cost-and-usage\` follows the FOCUS specification 1.2; \`requests\` has the request records, for roles that may read them; \`names\` has what keys, projects and members were called. At most ${MAX_LISTED_DAYS} days.`,
  permission: 'spend:read-all',
  query: z.strictObject({
    from: described(z.optional(day), 'First day. Default: 30 days before `to`.'),
    to: described(z.optional(day), 'Last day, inclusive. Default: today.'),
    dataset: z.optional(z.enum(datasetNames)),
    format: z._default(z.enum(exportFormats), 'parquet'),
  }),
  success: ok('Oldest first.', {
    items: z.array(dayExport),
    waiting: described(z.array(waitingDay), 'Closed days whose export is due: their files are missing or stale.'),
  }),
});

export const listExportChanges = operation('listExportChanges', 'GET /exports/changes', {
  summary: 'List the days that were exported, or exported again, since a cursor',
  description:
    'For loaders: load the files of each day in the place of those that you have of it, then keep `nextCursor` for the next call. A day is listed once, by its last export, some minutes after it. Without a cursor the list begins with the first export there is. On AWS, `exports/{account}/manifests/{day}.json` has the same, and EventBridge tells that it was written.',
  permission: listExports.permission,
  query: z.strictObject(pageParameters({ default: 31, max: 93 })),
  success: ok('Oldest export first.', {
    items: z.array(dayChange),
    nextCursor: described(
      z.nullable(z.string()),
      'Also at the end, for what comes later. Null where nothing was ever exported.',
    ),
    hasMore: z.boolean(),
  }),
});

export const machineListExports = forMachines(listExports);
export const machineListExportChanges = forMachines(listExportChanges);

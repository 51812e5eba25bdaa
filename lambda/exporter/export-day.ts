import { type DueExport, type Exported, manifestText } from '../data/exports/day-exports.ts';
import { leavesAt } from '../data/requests/day-files.ts';
import { plans } from '../domain/billing/plans.ts';
import { DAY_MS } from '../domain/calendar/units.ts';
import { boundsOf, type Day } from '../domain/calendar/utc.ts';
import {
  type DatasetName,
  datasetNames,
  datasets,
  type ExportedAccount,
  type ExportFormat,
  exportFormats,
} from '../domain/exports/datasets.ts';
import { auditHeadObjectKey, exportKey, manifestKey } from '../domain/object-keys.ts';
import { contributionOf } from '../domain/spend/contribution.ts';
import { addCounters, type Counters, isZero, knownCostNanoUsd, subtractCounters } from '../domain/spend/counters.ts';
import type { RequestRecord } from '../domain/spend/request-record.ts';
import type { ObjectStore } from '../integrations/object-store.ts';
import { openCsvFile, openParquetFile } from './file-formats.ts';
import type { Exporting } from './open-exporting.ts';
import { openUpload } from './upload.ts';

/** The day's records do not add up to its counters. The export stays as it was. */
class ExportMismatchError extends Error {
  override readonly name = 'ExportMismatchError';
}

/** The run ends before the day is written. */
export class OutOfTimeError extends Error {
  override readonly name = 'OutOfTimeError';
}

/**
 * `changed`: the day changed meanwhile, so that it is rolled up and exported again. `expired`: some of its records are no longer kept, so
 * that an earlier export stays.
 */
type ExportResult = 'exported' | 'changed' | 'expired';

/** Rows of a row group: what an export holds in memory, for each file. */
const GROUP_ROWS = 20_000;

const SHORTEST_RETENTION_DAYS = Math.min(...Object.values(plans).map((plan) => plan.requestRetentionDays));

const fileFormats = {
  parquet: { open: openParquetFile, contentType: 'application/vnd.apache.parquet' },
  csv: { open: openCsvFile, contentType: 'application/gzip' },
} as const;

/** The files of a dataset, in every format. Request records live as long as in the table, charges as long as on the longest plan. */
const openFiles = (
  objects: ObjectStore,
  { accountId, day }: DueExport,
  name: DatasetName,
  { account, requestDays }: { readonly account: ExportedAccount; readonly requestDays: number },
) => {
  const { columns, open } = datasets[name];
  const { ofRequest, ofDay } = open(day, account);
  const files = exportFormats.map((format: ExportFormat) => ({
    name: `${name}/${format}`,
    file: fileFormats[format].open(columns),
    upload: openUpload(
      objects,
      exportKey(accountId, name, format, day),
      fileFormats[format].contentType,
      name === 'requests' ? requestDays : undefined,
    ),
  }));
  let rows: unknown[] = [];
  let written = 0;
  const writeGroup = async (): Promise<void> => {
    if (rows.length === 0) return;
    for (const { file, upload } of files) await upload.write(file.encode(rows));
    written += rows.length;
    rows = [];
  };
  return {
    add: async (record: RequestRecord): Promise<void> => {
      rows.push(...ofRequest(record));
      if (rows.length >= GROUP_ROWS) await writeGroup();
    },
    writeRest: async (): Promise<void> => {
      rows.push(...ofDay());
      await writeGroup();
      for (const { file, upload } of files) await upload.write(file.end());
    },
    finish: async (): Promise<[string, Exported['files'][string]][]> => {
      const finished: [string, Exported['files'][string]][] = [];
      for (const { name: file, upload } of files) finished.push([file, { rows: written, ...(await upload.finish()) }]);
      return finished;
    },
    abort: () => Promise.all(files.map(({ upload }) => upload.abort())),
  };
};

/**
 * Exports a day of an account: all its records, in every dataset and format, each file replaced as a whole. The files are put in place
 * only if the records that were written add up to the day's counters, in every sum. Memory is bounded by the size of a row group and of
 * a part of an upload.
 *
 * The returned function takes `isLate`, true where the run must end.
 *
 * @throws ExportMismatchError, OutOfTimeError
 */
export const exportDay =
  ({
    accountTerms,
    dayExports,
    requests,
    spendCounters,
    marks,
    objects,
    auditLog,
    describeAccount,
    dayFiles,
    tableDays,
    now,
  }: Omit<Exporting, 'table'>) =>
  async (due: DueExport, isLate: () => boolean): Promise<ExportResult> => {
    const { accountId, day } = due;
    const { retentionDays } = await accountTerms.find(accountId);
    const account = await describeAccount(accountId);
    const files = datasetNames.map((name) => openFiles(objects, due, name, { account, requestDays: retentionDays }));
    try {
      let sums: Counters = {};
      for await (const record of requests.all(accountId, boundsOf(day))) {
        if (isLate()) throw new OutOfTimeError('The day is not exported yet.');
        sums = addCounters(sums, contributionOf(record).counters);
        for (const each of files) await each.add(record);
      }
      for (const each of files) await each.writeRest();
      const missing = subtractCounters(await countersOf(spendCounters, accountId, day), sums);
      if (!isZero(missing)) {
        for (const each of files) await each.abort();
        if ((await marks.markedPeriods(accountId, day, day)).length > 0) return 'changed';
        const isOld = now() - Date.parse(day) > SHORTEST_RETENTION_DAYS * DAY_MS;
        if (!isOld || (missing.requests ?? 0) <= 0) throw new ExportMismatchError('Records and counters differ.');
        await dayExports.giveUp(due);
        return 'expired';
      }
      const finished = [];
      for (const each of files) finished.push(...(await each.finish()));
      // Outside the table, so that whoever rewrites the log there cannot hide it.
      const lastEntry = await auditLog.findLast(accountId);
      if (lastEntry)
        await objects.put(auditHeadObjectKey(accountId, day), JSON.stringify(lastEntry), {
          contentType: 'application/json',
        });
      if (tableDays !== null && retentionDays > tableDays)
        await dayFiles.enter(accountId, day, leavesAt(day, tableDays));
      const exported: Exported = {
        at: new Date(now()).toISOString(),
        requests: sums.requests ?? 0,
        costNanoUsd: knownCostNanoUsd(sums),
        unpricedRequests: sums.unpricedRequests ?? 0,
        requestRetentionDays: retentionDays,
        files: Object.fromEntries(finished),
      };
      await objects.put(manifestKey(accountId, day), manifestText(day, exported), { contentType: 'application/json' });
      return (await dayExports.finish(due, exported)) ? 'exported' : 'changed';
    } catch (error) {
      // An upload that is not aborted here, the bucket removes after two days.
      await Promise.allSettled(files.map((each) => each.abort()));
      throw error;
    }
  };

/** The sums of a day. */
export const countersOf = async (
  spendCounters: Exporting['spendCounters'],
  accountId: string,
  day: Day,
): Promise<Counters> => {
  let sums: Counters = {};
  for await (const { counters } of spendCounters.days(accountId, day, day, { consistent: true }))
    sums = addCounters(sums, counters);
  return sums;
};

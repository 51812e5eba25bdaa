import { randomUUID } from 'node:crypto';
import * as z from 'zod/mini';
import { MINUTE_MS } from '../../domain/calendar/units.ts';
import type { Day } from '../../domain/calendar/utc.ts';
import { EXISTS, update } from '../table/actions.ts';
import {
  dayExportIndexKey,
  dayExportIndexPartition,
  dayExportKey,
  ROLLUP_MARK_SHARDS,
  spendPartition,
  timeRange,
} from '../table/keys.ts';
import { itemsBetween, itemsOfIndex } from '../table/read.ts';
import { shardOf, type Table } from '../table/table.ts';
import { tryWrite } from '../table/write.ts';

const file = z.object({
  rows: z.int(),
  bytes: z.int(),
  /** In hex. Exports before it was noted have none. */
  sha256: z.optional(z.string()),
});
const exported = z.object({
  at: z.iso.datetime(),
  requests: z.int(),
  /** Sum of all known costs. */
  costNanoUsd: z.int(),
  /** Requests whose cost is not known: they are in the request records, and no charges. */
  unpricedRequests: z.int(),
  /** How long after `at` the files of request records live. */
  requestRetentionDays: z.optional(z.int()),
  /** By `{dataset}/{format}`. */
  files: z.record(z.string(), file),
});

/** Export of a day, and its time. */
export type Exported = z.infer<typeof exported>;

const storedDue = z.object({ accountId: z.string(), day: z.string(), nonce: z.string() });
const storedDay = z.object({ day: z.string(), exported: z.optional(exported), gsi1sk: z.optional(z.string()) });

/** A day that is exported, due, or both: exported before it changed. */
export interface ExportDay {
  readonly day: Day;
  readonly exported: Exported | null;
  /** ISO 8601 UTC. */
  readonly dueSince: string | null;
}

/** A day that must be exported (again). */
export type DueExport = z.infer<typeof storedDue>;

/**
 * The write that makes the export of a day due. Each has a nonce of its own: an export ends only the request that was read before the
 * records.
 */
export const requestExport = (accountId: string, day: Day, now: number, condition: string | null = null) => {
  const due = dayExportIndexKey(shardOf(accountId, ROLLUP_MARK_SHARDS), new Date(now).toISOString(), accountId, day);
  return update(
    dayExportKey(accountId, day),
    'SET accountId = :accountId, #day = :day, nonce = :nonce, gsi1pk = :gsi1pk, gsi1sk = :gsi1sk',
    condition,
    { accountId, day, nonce: randomUUID(), ...due },
  );
};

/** The manifest of a day for loaders, as the list of changes has it. The time of the export is its version. */
export const manifestText = (day: Day, { at, files, requestRetentionDays: _, ...sums }: Exported): string =>
  JSON.stringify({
    day,
    exportedAt: at,
    ...sums,
    files: Object.entries(files).map(([name, file]) => {
      const [dataset, format] = name.split('/');
      return { dataset, format, ...file };
    }),
  });

/** An export whose end is not stored after this time has failed: from then on no earlier one is added to the list of changes. */
const STORED_MS = 5 * MINUTE_MS;
const [FIRST_DAY, LAST_DAY] = ['0000-01-01', '9999-12-31'];

/** Which days of accounts are exported, and which are due. */
export const openDayExports = (table: Table) => {
  const end = ({ accountId, day, nonce }: DueExport, result: Exported | undefined): Promise<boolean> =>
    tryWrite(
      table,
      update(
        dayExportKey(accountId, day),
        `${result ? 'SET exported = :result ' : ''}REMOVE nonce, gsi1pk, gsi1sk`,
        'nonce = :nonce',
        { nonce, result },
      ),
    );

  /** Leaves deleted items deleted. @returns false */
  const requestAgain = async ({ accountId, day }: DueExport): Promise<false> => {
    await tryWrite(table, requestExport(accountId, day, Date.now(), EXISTS));
    return false;
  };

  return {
    /** Days of a shard that are due, the longest due first. */
    async *due(shard: number): AsyncGenerator<DueExport> {
      for await (const item of itemsOfIndex(table, dayExportIndexPartition(shard))) yield storedDue.parse(item);
    },

    /**
     * Notes what was exported. Where the day changed meanwhile, it is due (again): had another run exported it since, its files would be
     * newer than these, which replaced them.
     *
     * @returns false where the day is due
     */
    finish: async (due: DueExport, result: Exported): Promise<boolean> => (await end(due, result)) || requestAgain(due),

    /** Leaves an earlier export as it is. */
    giveUp: (due: DueExport): Promise<boolean> => end(due, undefined),

    /** The exported and the due days of an account in a range, both ends included, ascending. */
    list: (accountId: string, from: Day, to: Day): Promise<ExportDay[]> =>
      Array.fromAsync(itemsBetween(table, spendPartition(accountId), timeRange('EXPORT', from, to)), (item) => {
        const { day, exported = null, gsi1sk } = storedDay.parse(item);
        return { day, exported, dueSince: gsi1sk?.split('#')[0] ?? null };
      }),
  };
};

export type DayExports = ReturnType<typeof openDayExports>;

/** Each exported day once, by its last export, oldest first. @param after the `at` of another one */
export const exportChanges = async (
  { list }: Pick<DayExports, 'list'>,
  accountId: string,
  after: string | undefined,
  now: Date,
) => {
  const until = new Date(now.getTime() - STORED_MS).toISOString();
  return (await list(accountId, FIRST_DAY, LAST_DAY))
    .flatMap(({ day, exported }) =>
      exported && exported.at <= until ? [{ day, exported, at: `${exported.at}#${day}` }] : [],
    )
    .filter(({ at }) => after === undefined || at > after)
    .sort((a, b) => (a.at < b.at ? -1 : 1));
};

import { z } from 'zod';
import { requestExport } from '../lambda/data/exports/day-exports.ts';
import { openSpendCounters } from '../lambda/data/spend/spend-counters.ts';
import { openTable } from '../lambda/data/table/table.ts';
import { write } from '../lambda/data/table/write.ts';
import { dayOf } from '../lambda/domain/calendar/utc.ts';
import { plural } from '../lambda/domain/spend/spend-report.ts';
import { accountIdsOf, accountName } from './account-id.ts';
import { areInOrder, day, flag, notInOrder, runCommand, tableName } from './command.ts';

const USAGE = `npm run exports -- --from DAY --to DAY [--account KEY] [--table NAME]

Exports the closed days from DAY to DAY (UTC, both included) again, within the hour: for days from before there were exports, or whose
files were lost. Days whose records have expired keep the export they have.

  --account KEY   of this account only: one of its service keys, or its internal id
  --table NAME    the table (default: TABLE_NAME)
  --dry-run       says how many days it would be`;

const today = () => dayOf(new Date().toISOString());

const schema = z
  .object({
    from: day,
    to: day,
    account: accountName.optional(),
    table: tableName,
    'dry-run': flag,
  })
  .refine(areInOrder, notInOrder)
  .refine(({ from }) => from < today(), { path: ['from'], error: 'is no closed day' });

await runCommand({ usage: USAGE, schema }, async ({ account, from, to, table: name, 'dry-run': isDryRun }) => {
  const table = openTable(name);
  const spendCounters = openSpendCounters(table);
  let requested = 0;
  for await (const accountId of accountIdsOf(table, account)) {
    const days = new Set<string>();
    for await (const { time } of spendCounters.days(accountId, from, to)) if (time < today()) days.add(time);
    requested += days.size;
    if (isDryRun) continue;
    for (const each of days) await write(table, requestExport(accountId, each, Date.now()));
  }
  console.log(`${isDryRun ? 'Would be exported' : 'Exported'} again within the hour: ${plural(requested, 'day')}.`);
});

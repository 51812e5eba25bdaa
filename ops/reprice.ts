import { z } from 'zod';
import { openNewestBook } from '../lambda/data/prices/newest-book.ts';
import { openPriceVersions } from '../lambda/data/prices/price-versions.ts';
import { noObjects, type ObjectReader } from '../lambda/data/requests/day-file.ts';
import { openRequests } from '../lambda/data/requests/requests.ts';
import { inBatches } from '../lambda/data/table/batch.ts';
import { openTable, type Table } from '../lambda/data/table/table.ts';
import { boundsOf } from '../lambda/domain/calendar/utc.ts';
import { type CostDifference, sumOfDifferences, withDifferences } from '../lambda/domain/price/cost-differences.ts';
import { priceRequest } from '../lambda/domain/price/price-request.ts';
import type { RequestRecord } from '../lambda/domain/spend/request-record.ts';
import { openObjectStore } from '../lambda/integrations/object-store.ts';
import { openRepricer } from '../lambda/usage-recorder/reprice.ts';
import { accountIdsOf, accountName } from './account-id.ts';
import { areInOrder, day, flag, notInOrder, runCommand, tableName } from './command.ts';

const USAGE = `npm run reprice -- --from DAY --to DAY [--account KEY] [--table NAME] [--bucket NAME] [--dry-run]

Prices the requests of the days from DAY to DAY (UTC, both included) again with the newest price book of the feed, from the usage on
record, and corrects the counters by the difference. Shows the difference first; --dry-run stops there. A second run changes nothing.

  --account KEY   of this account alone, named by a service key or its internal id (default: all)
  --table NAME    default: the environment variable TABLE_NAME
  --bucket NAME   with requests that have left the table (default: the environment variable OBJECT_BUCKET)
Region and credentials come from the AWS environment.`;

const BATCH = 500;

const schema = z
  .object({
    from: day,
    to: day,
    account: accountName.optional(),
    table: tableName,
    bucket: z.string().default(process.env['OBJECT_BUCKET'] ?? ''),
    'dry-run': flag,
  })
  .refine(areInOrder, notInOrder);

type Options = z.output<typeof schema>;

async function* batchesOf(
  table: Table,
  objects: ObjectReader,
  { account, from, to }: Options,
): AsyncGenerator<RequestRecord[]> {
  const requests = openRequests(table, Date.now, objects);
  for await (const accountId of accountIdsOf(table, account))
    yield* inBatches(requests.all(accountId, boundsOf(from, to)), BATCH);
}

const onFallback = ({ message }: Error): void => console.error(`An older price book is used: ${message}`);

/** Prices what the options name once; `dryRun` changes nothing. */
const run = async (table: Table, options: Options, dryRun: boolean) => {
  const findPrice = await openNewestBook({ versions: openPriceVersions(table), onFallback })();
  const objects = options.bucket === '' ? noObjects : openObjectStore(options.bucket);
  const reprice = openRepricer(table, (event) => priceRequest(event, findPrice), objects);
  let differences: CostDifference[] = [];
  let read = 0;
  let failed = 0;
  for await (const batch of batchesOf(table, objects, options)) {
    const result = await reprice(batch, { dryRun });
    differences = withDifferences(differences, result.changes);
    read += batch.length;
    failed += result.failed;
    if (process.stderr.isTTY) process.stderr.write(`\r${read} requests read`);
  }
  if (process.stderr.isTTY) process.stderr.write('\n');
  return { differences, requests: sumOfDifferences(differences).requests, read, failed };
};

/** Costs in USD. */
const shown = ({ provider, model, nanoUsdBefore, nanoUsdAfter, ...counts }: CostDifference) => ({
  model: `${provider} ${model ?? '(no model)'}`,
  ...counts,
  usdBefore: nanoUsdBefore / 1e9,
  usdAfter: nanoUsdAfter / 1e9,
  usdDifference: (nanoUsdAfter - nanoUsdBefore) / 1e9,
});

await runCommand({ usage: USAGE, schema }, async (options) => {
  const table = openTable(options.table);
  const preview = await run(table, options, true);
  if (preview.requests > 0) console.table(preview.differences.map(shown));
  console.log(`${preview.requests} of ${preview.read} requests are priced differently now.`);
  if (options['dry-run'] || preview.requests === 0) return;
  const { requests, failed } = await run(table, options, false);
  console.log(`${requests} corrected${failed > 0 ? `, ${failed} could not be: run again` : ''}.`);
  if (failed > 0) process.exitCode = 1;
});

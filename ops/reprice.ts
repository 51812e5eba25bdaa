import { parseArgs } from 'node:util';
import { z } from 'zod';
import { allAccountIds } from '../lambda/data/account-ids.ts';
import { findCountedAnswers } from '../lambda/data/counted-answers.ts';
import { openLedger } from '../lambda/data/ledger.ts';
import { requestRepository } from '../lambda/data/requests.ts';
import { openTable } from '../lambda/data/table.ts';
import { priceRequest } from '../lambda/domain/price/price-request.ts';
import type { RequestRecord } from '../lambda/domain/spend/request-record.ts';
import { repriceRecords } from '../lambda/usage-recorder/reprice.ts';
import { differenceTable } from './reprice/differences.ts';

const USAGE = `npm run reprice -- --from DAY --to DAY [--account KEY] [--table NAME] [--dry-run]

Prices the requests of the days from DAY to DAY (UTC, both included) anew with the price book of this checkout, from the usage on
record, and corrects the counters by the difference. Shows the difference first; --dry-run stops there. A second run changes nothing.

  --account KEY   of this account alone (default: all)
  --table NAME    default: the environment variable TABLE_NAME
Region and credentials come from the AWS environment.`;

const BATCH = 500;

const day = z.iso.date();
const optionsSchema = z.object({
  from: day,
  to: day,
  account: z.string().optional(),
  table: z.string({ error: '--table or TABLE_NAME is needed' }).min(1),
  'dry-run': z.boolean().default(false),
});

const parseOptions = () => {
  const { values } = parseArgs({
    options: {
      from: { type: 'string' },
      to: { type: 'string' },
      account: { type: 'string' },
      table: { type: 'string', default: process.env['TABLE_NAME'] ?? '' },
      'dry-run': { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help) {
    console.log(USAGE);
    process.exit(0);
  }
  const parsed = optionsSchema.safeParse(values);
  if (parsed.success && parsed.data.from <= parsed.data.to) return parsed.data;
  console.error(USAGE);
  process.exit(2);
};

const options = parseOptions();
const table = openTable(options.table);
const requests = requestRepository(table);
const reprice = repriceRecords({
  findRecords: requests.findMany,
  findAnswers: (names) => findCountedAnswers(table, names),
  commit: openLedger(table).commit,
  price: priceRequest,
});
const span = {
  from: `${options.from}T00:00:00.000Z`,
  to: new Date(Date.parse(options.to) + 86_400_000).toISOString(),
};

async function* accounts(): AsyncGenerator<string> {
  if (options.account !== undefined) yield options.account;
  else yield* allAccountIds(table);
}

async function* batches(): AsyncGenerator<RequestRecord[]> {
  for await (const accountId of accounts()) {
    let batch: RequestRecord[] = [];
    for await (const record of requests.all(accountId, span)) {
      batch.push(record);
      if (batch.length < BATCH) continue;
      yield batch;
      batch = [];
    }
    if (batch.length > 0) yield batch;
  }
}

const run = async (dryRun: boolean) => {
  const differences = differenceTable();
  let read = 0;
  let failed = 0;
  for await (const batch of batches()) {
    const result = await reprice(batch, { dryRun });
    differences.add(result.changes);
    read += batch.length;
    failed += result.failed;
    if (process.stderr.isTTY) process.stderr.write(`\r${read} requests read`);
  }
  if (process.stderr.isTTY) process.stderr.write('\n');
  return { differences, read, failed };
};

const preview = await run(true);
if (preview.differences.requests() > 0) console.table(preview.differences.rows());
console.log(`${preview.differences.requests()} of ${preview.read} requests are priced differently now.`);
if (!options['dry-run'] && preview.differences.requests() > 0) {
  const { differences, failed } = await run(false);
  console.log(`${differences.requests()} corrected${failed > 0 ? `, ${failed} could not be: run again` : ''}.`);
  if (failed > 0) process.exitCode = 1;
}

import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { compareBill } from '../lambda/dashboard/reconciliation/read-reconciliation.ts';
import { openTrackingGaps } from '../lambda/data/ledger/tracking-gaps.ts';
import { openNewestBook } from '../lambda/data/prices/newest-book.ts';
import { openPriceVersions } from '../lambda/data/prices/price-versions.ts';
import { openBills } from '../lambda/data/reconciliation/bills.ts';
import { openSpend } from '../lambda/data/spend/spend.ts';
import { openTable } from '../lambda/data/table/table.ts';
import { DomainError } from '../lambda/domain/errors.ts';
import { providerLabels } from '../lambda/domain/providers.ts';
import { parseBillCsv } from '../lambda/domain/reconciliation/bill-csv.ts';
import { accountIdOf, accountName } from './account-id.ts';
import { CommandError, day, flag, runCommand, tableName } from './command.ts';

const USAGE = `npm run reconcile -- KEY PROVIDER --from DAY --to DAY [--import FILE] [--table NAME] [--dry-run]

Compares what a provider billed an account with what is on record, and says why they differ: see docs/reconciliation.md.

  KEY            the account key (svc_…), any other service key of the account, or its internal id
  PROVIDER       ${providerLabels.join(', ')}
  --import FILE  an invoice as CSV (day,amount[,item][,model][,scope]), stored first; --dry-run stores nothing
  --table NAME   default: the environment variable TABLE_NAME
Region and credentials come from the AWS environment.`;

const schema = z.object({
  _: z.tuple([accountName, z.enum(providerLabels, `one of ${providerLabels.join(', ')}`)]),
  from: day,
  to: day,
  import: z.string().optional(),
  table: tableName,
  'dry-run': flag,
});

const MAX_FINDINGS = 20;

const percent = (share: number | null): string => (share === null ? 'no bill' : `${(share * 100).toFixed(1)} %`);

await runCommand(
  { usage: USAGE, schema },
  async ({ _: [name, provider], from, to, import: file, table: tableName, 'dry-run': dryRun }) => {
    const table = openTable(tableName);
    const accountId = await accountIdOf(table, name);
    const bills = openBills(table);
    try {
      if (file !== undefined) {
        const lines = parseBillCsv(await readFile(file, 'utf8'));
        const store = () => bills.replace(accountId, provider, { lines, usage: [] }, new Date().toISOString());
        const done = dryRun ? 'were read; none is stored' : `of ${(await store()).length} days are stored`;
        console.log(`${lines.length} lines ${done}.`);
      }
      const readTrackingGaps = openTrackingGaps(table).gaps;
      const loadBook = openNewestBook({
        versions: openPriceVersions(table),
        onFallback: (error) =>
          console.error(`The newest prices cannot be read (${error.name}): those before them are used.`),
      });
      const compare = compareBill({ bills, readCounters: openSpend(table).read, readTrackingGaps, loadBook });
      const compared = await compare(accountId, provider, { from, to });
      const { billedUsd, recordedUsd, billedDays, throughGatewayShare, differences, findings } = compared;
      console.log(`${provider}, ${from} to ${to}: ${billedDays} days billed`);
      console.log(
        `billed    $${billedUsd}\nrecorded  $${recordedUsd}\nthrough the gateway  ${percent(throughGatewayShare)}`,
      );
      console.table(differences.map(({ bucket, amountUsd }) => ({ bucket, usd: amountUsd })));
      console.table(
        findings
          .slice(0, MAX_FINDINGS)
          .map(({ bucket, day, model, item, amountUsd }) => ({ bucket, day, what: model ?? item, usd: amountUsd })),
      );
    } catch (error) {
      if (error instanceof DomainError) throw new CommandError(error.message);
      throw error;
    }
  },
);

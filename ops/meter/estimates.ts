import { createHash } from 'node:crypto';
import { reasons } from '../../lambda/domain/price/price-request.ts';
import type { ProviderLabel } from '../../lambda/domain/providers.ts';
import { estimateUsage } from '../../lambda/domain/usage/estimate-usage.ts';
import { readUsage } from '../../lambda/domain/usage/normalize.ts';
import { promptTokens, type Tokenizer, tokenizerFamily, tokenizerOf } from '../../lambda/domain/usage/tokenizers.ts';
import type { Usage } from '../../lambda/domain/usage/usage.ts';
import type { Prompt, VisibleSizes } from '../../lambda/domain/usage/usage-event.ts';
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

/** Whether constants may be fitted to a recording, or only be tried with it. By its bytes, so that it is the same in every file. */
const halfOf = ({ bytes }: Recording): 'calibration' | 'report' =>
  (createHash('sha256').update(bytes).digest()[0] as number) % 2 === 0 ? 'calibration' : 'report';

/** A response that reported its usage, and the same without it. */
const estimateOf = async (recording: Recording, { reading, priced }: Replayed) => {
  if (reading.usageSource !== 'reported' || !priced.usage) return null;
  const silent = await replay(withoutUsage(recording), SEED, AT);
  return { reported: priced.usage, visible: silent.reading.visible, silent };
};

const at = (sorted: readonly number[], share: number): number | null =>
  sorted.length === 0 ? null : Number((sorted[Math.floor(share * (sorted.length - 1))] as number).toFixed(2));

const share = (values: readonly boolean[]): number =>
  Number((values.filter(Boolean).length / Math.max(1, values.length)).toFixed(2));

/** Estimated tokens for each reported one, and whether the reported number is within the bounds of the estimate. */
interface Ratio {
  readonly ratio: number;
  readonly isWithinBounds: boolean;
}

const distribution = (ratios: readonly Ratio[]) => {
  const sorted = ratios.map(({ ratio }) => ratio).sort((a, b) => a - b);
  return {
    responses: sorted.length,
    p5: at(sorted, 0.05),
    median: at(sorted, 0.5),
    p95: at(sorted, 0.95),
    within60To160Percent: share(sorted.map((ratio) => ratio >= 0.6 && ratio <= 1.6)),
    withinBounds: share(ratios.map(({ isWithinBounds }) => isWithinBounds)),
  };
};

interface Row {
  readonly calibration: Ratio[];
  readonly report: Ratio[];
  /** The cost stays unknown: parts that cannot be counted, hidden reasoning, or nothing to estimate from. */
  unknown: number;
}

/** Shorter outputs say little: one token more is 5 %. */
const MIN_OUTPUT_TOKENS = 20;

const kindOf = (reported: Usage, sizes: VisibleSizes | undefined): string => {
  if (reported.reasoningTokens > 0 || (sizes?.thinkingPieces ?? 0) > 0) return 'thinking';
  return (sizes?.calls ?? 0) > 0 ? 'tool calls' : 'text';
};

/** By family of models, estimated for each reported token of the input; by provider and kind, of the outputs of streams. For both halves. */
export const estimates = () => {
  const rows = new Map<string, Row>();
  const add = (name: string, half: keyof Omit<Row, 'unknown'>, ratio: Ratio | null): void => {
    for (const key of [name, `${name.split(':')[0]}: all`]) {
      const row = rows.get(key) ?? { calibration: [], report: [], unknown: 0 };
      rows.set(key, row);
      if (ratio) row[half].push(ratio);
      else row.unknown++;
    }
  };
  return {
    visit: async (recording: Recording, replayed: Replayed): Promise<void> => {
      const found = await estimateOf(recording, replayed);
      if (!found) return;
      const { reported, visible, silent } = found;
      const { reading, priced } = silent;
      const { dialect, modelServed, modelRequested, streamed } = replayed.reading;
      const half = halfOf(recording);
      const estimate = estimateUsage(reading);
      const [least, most] = [estimate?.least, estimate?.most].map(
        (usage) => usage && readUsage(recording.provider as ProviderLabel, { ...reading, usage })?.usage,
      );
      const ratioOf = (side: 'input' | 'output'): Ratio | null => {
        const truth = billed(reported)[side];
        if (!priced.usage || !least || !most || (side === 'input' && estimate?.isLowerBound)) return null;
        return {
          ratio: billed(priced.usage)[side] / truth,
          isWithinBounds: truth >= billed(least)[side] && truth <= billed(most)[side],
        };
      };
      const family = tokenizerFamily(modelServed ?? modelRequested ?? '');
      if (billed(reported).input > 0 && !dialect.includes('embed')) add(`input: ${family}`, half, ratioOf('input'));
      if (!streamed || billed(reported).output < MIN_OUTPUT_TOKENS || !visible) return;
      const isHidden = priced.reason === reasons.hiddenReasoning;
      const kind = kindOf(reported, visible.output);
      add(`output: ${recording.provider}, ${kind}`, half, isHidden ? null : ratioOf('output'));
    },
    results: () =>
      [...rows]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, { calibration, report, unknown }]) => ({
          of: name,
          calibration: distribution(calibration),
          report: distribution(report),
          unknown,
        })),
  };
};

interface Sample {
  readonly prompt: Prompt;
  readonly inputTokens: number;
  readonly half: ReturnType<typeof halfOf>;
}

type PromptConstant = Exclude<keyof Tokenizer, 'tokensPerPiece' | 'tokensPerCallMade'>;

/** Each constant's range, and the value that it has where no recording says otherwise. */
const ranges: Readonly<Record<PromptConstant, readonly [least: number, usual: number, most: number]>> = {
  bytesPerToken: [3, 4.3, 5.5],
  tokensPerChat: [0, 4, 400],
  tokensPerMessage: [0, 4, 40],
  tokensPerCall: [0, 10, 100],
  tokensForTools: [0, 60, 600],
  toolBytesPerToken: [2, 3.5, 9],
  schemaBytesPerToken: [2, 5, 1000],
};
const names = Object.keys(ranges) as PromptConstant[];

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
  let best = {
    ...tokenizerOf(''),
    ...Object.fromEntries(names.map((name) => [name, ranges[name][1]])),
  } as Tokenizer;
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
  const ratios = samples
    .map(({ prompt, inputTokens }) => promptTokens(prompt, tokenizer, true) / inputTokens)
    .sort((a, b) => a - b);
  return at(ratios, 0.5);
};

/**
 * By family of models: the constants in use, those that fit the recordings best, and the median of estimated to reported input
 * when the recordings of one half are estimated with constants of the other.
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
      row.samples.push({ prompt, inputTokens, half: halfOf(recording) });
      samples.set(family, row);
    },
    results: () =>
      [...samples].map(([family, { model, samples }]) => {
        const { calibration = [], report = [] } = Object.groupBy(samples, ({ half }) => half);
        return {
          family,
          recordings: samples.length,
          inUse: tokenizerOf(model),
          medianInUse: medianRatio(tokenizerOf(model), samples),
          best: Object.fromEntries(
            Object.entries(fitConstants(samples)).map(([name, value]) => [name, Number((value ?? 0).toFixed(1))]),
          ),
          medianOfReportHalf: calibration.length > 0 ? medianRatio(fitConstants(calibration), report) : null,
        };
      }),
  };
};

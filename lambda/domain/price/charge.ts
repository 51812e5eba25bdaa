import { type AttoUsd, nanoUsdPerUnit } from '../money.ts';
import { type PriceLine, type UnitName, type Usage, unitNames } from '../usage/usage.ts';
import type { RateKind, Rates, TokenKind } from './rates.ts';

/** Input tokens that have no kind yet, by modality, in the order in which they are taken as cached. */
type Pools = Record<'text' | 'audio' | 'image' | 'video', number>;

/** Takes up to `tokens` out of the pools, text first: caches hold the head of a prompt, which is text. */
const take = (pools: Pools, tokens: number): Pools => {
  const taken: Pools = { text: 0, audio: 0, image: 0, video: 0 };
  let wanted = tokens;
  for (const pool of Object.keys(pools) as (keyof Pools)[]) {
    taken[pool] = Math.min(pools[pool], wanted);
    pools[pool] -= taken[pool];
    wanted -= taken[pool];
  }
  return taken;
};

/** Input tokens, each in exactly one kind. */
const inputByKind = (usage: Usage) => {
  const input = usage.billedInputTokens ?? usage.inputTokens;
  // Billed tokens leave out cached ones by the provider's own rules.
  const isCharged = usage.billedInputTokens === null;
  const audio = Math.min(usage.inputAudioTokens, input);
  const image = Math.min(usage.inputImageTokens, input - audio);
  const video = Math.min(usage.inputVideoTokens, input - audio - image);
  const knownAudio = isCharged ? usage.cacheReadAudioTokens : 0;
  const knownImage = isCharged ? usage.cacheReadImageTokens : 0;
  const pools = { text: input - audio - image - video, audio: audio - knownAudio, image: image - knownImage, video };
  const read = take(pools, isCharged ? usage.cacheReadTokens - knownAudio - knownImage : 0);
  const written = take(pools, isCharged ? usage.cacheWriteTokens : 0);
  const cacheWrite = written.text + written.audio + written.image + written.video;
  const cacheWrite1h = Math.min(usage.cacheWrite1hTokens, cacheWrite);
  const cacheWrite12h = Math.min(usage.cacheWrite12hTokens, cacheWrite - cacheWrite1h);
  return {
    input: pools.text,
    cacheRead: read.text + read.video,
    cacheWrite: cacheWrite - cacheWrite1h - cacheWrite12h,
    cacheWrite1h,
    cacheWrite12h,
    inputAudio: pools.audio,
    cacheReadAudio: knownAudio + read.audio,
    inputImage: pools.image,
    cacheReadImage: knownImage + read.image,
    inputVideo: pools.video,
  };
};

const outputByKind = (usage: Usage) => {
  const output = usage.billedOutputTokens ?? usage.outputTokens;
  const outputAudio = Math.min(usage.outputAudioTokens, output);
  const outputImage = Math.min(usage.outputImageTokens, output - outputAudio);
  const outputVideo = Math.min(usage.outputVideoTokens, output - outputAudio - outputImage);
  const text = output - outputAudio - outputImage - outputVideo;
  const reasoning = Math.min(usage.reasoningTokens, text);
  return { output: text - reasoning, reasoning, outputAudio, outputImage, outputVideo };
};

/**
 * Splits usage into kinds, with every token in exactly one. Where a provider reports cached and audio tokens but not their
 * overlap, cached tokens count as text first.
 */
export const tokensByKind = (usage: Usage): Readonly<Record<TokenKind, number>> => ({
  ...inputByKind(usage),
  ...outputByKind(usage),
});

/** The kind whose rate applies when a kind has none: the kind it is part of. */
const chargedAs: Readonly<Partial<Record<RateKind, TokenKind>>> = {
  cacheRead: 'input',
  cacheWrite: 'input',
  cacheWrite1h: 'cacheWrite',
  cacheWrite12h: 'cacheWrite',
  inputAudio: 'input',
  cacheReadAudio: 'cacheRead',
  inputImage: 'input',
  cacheReadImage: 'cacheRead',
  inputVideo: 'input',
  reasoning: 'output',
  outputAudio: 'output',
  outputImage: 'output',
  outputVideo: 'output',
};

/** The rate of a kind, or of the kind it is part of. */
export const rateOf = (rates: Rates, kind: RateKind): { kind: RateKind; rate: AttoUsd } | null => {
  for (let at: RateKind | undefined = kind; at; at = chargedAs[at]) {
    const rate = rates[at];
    if (rate !== undefined) return { kind: at, rate };
  }
  return null;
};

/** A quantity with its exact rate. `lineOf` makes the line that is shown. */
export interface Charge {
  readonly kind: string;
  readonly quantity: number;
  readonly rate: AttoUsd;
}

export interface Charges {
  readonly charges: readonly Charge[];
  /** Kinds in use that have no rate, not even as part of another kind: their cost is unknown. */
  readonly unpriced: readonly RateKind[];
}

/** Usage times rates, kind by kind; kinds that share a rate share a line. */
export const charge = (usage: Usage, rates: Rates): Charges => {
  const quantities = new Map<RateKind, { quantity: number; rate: AttoUsd }>();
  const unpriced: RateKind[] = [];
  const add = (kind: RateKind, quantity: number, rate: AttoUsd) =>
    quantities.set(kind, { quantity: (quantities.get(kind)?.quantity ?? 0) + quantity, rate });
  for (const [kind, quantity] of Object.entries(tokensByKind(usage)) as [TokenKind, number][]) {
    if (quantity === 0) continue;
    const found = rateOf(rates, kind);
    if (found) add(found.kind, quantity, found.rate);
    else unpriced.push(kind);
  }
  for (const unit of unitNames) {
    const quantity = usage.units[unit] ?? 0;
    const rate = rates[unit];
    if (quantity === 0 || rate === 0n) continue;
    if (rate !== undefined) add(unit, quantity, rate);
    else if (!isInTokens(usage, unit)) unpriced.push(unit);
  }
  return { charges: [...quantities].map(([kind, { quantity, rate }]) => ({ kind, quantity, rate })), unpriced };
};

/** True for units that a model sold by the token also reports: its images, seconds and characters are in the tokens. */
const isInTokens = (usage: Usage, unit: UnitName): boolean =>
  (unit === 'images' || unit === 'audioSeconds' || unit === 'characters') && usage.inputTokens + usage.outputTokens > 0;

export const lineOf = ({ kind, quantity, rate }: Charge): PriceLine => ({
  kind,
  quantity,
  rateNanoUsdPerUnit: nanoUsdPerUnit(rate),
});

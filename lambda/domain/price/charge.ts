import { type AttoUsd, nanoUsdPerUnit } from '../money.ts';
import { type PriceLine, type UnitName, type Usage, unitNames } from '../usage/usage.ts';
import type { RateKind, Rates, TokenKind } from './rates.ts';
import { tokensByKind } from './tokens-by-kind.ts';

/** The kind whose rate applies when a kind has none: the kind it is part of. */
const chargedAs: Readonly<Partial<Record<TokenKind, TokenKind>>> = {
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
export const rateOf = (rates: Rates, kind: TokenKind): { kind: TokenKind; rate: AttoUsd } | null => {
  for (let at: TokenKind | undefined = kind; at; at = chargedAs[at]) {
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

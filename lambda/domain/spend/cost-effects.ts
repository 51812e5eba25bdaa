import { type Counters, knownCostNanoUsd } from './counters.ts';

/** Three parts of a change of cost, in nano-USD. Their sum is the change, exactly. */
export interface CostEffects {
  readonly volumeNanoUsd: number;
  readonly mixNanoUsd: number;
  readonly priceNanoUsd: number;
}

/** The sums of one model of one provider before and now. */
export interface ModelSums {
  readonly before: Counters;
  readonly now: Counters;
}

const tokensOf = ({ inputTokens = 0, outputTokens = 0 }: Counters): number => inputTokens + outputTokens;

/** `value × by / of`, rounded to an integer. Products pass 2^53. */
const scaled = (value: bigint, by: bigint, of: bigint): bigint => {
  const product = 2n * value * by;
  return (product + (product < 0n ? -of : of)) / (2n * of);
};

/** Known cost, and the quantity that it is the cost of: tokens, or requests where no token was ever reported. */
const measured = (counters: Counters, unit: 'tokens' | 'requests') => {
  const { requests = 0, unpricedRequests = 0, freeRequests = 0, unfinishedRequests = 0 } = counters;
  const known = BigInt(Math.max(0, requests - unpricedRequests - freeRequests));
  const finished = BigInt(Math.max(0, requests - freeRequests - Math.min(unfinishedRequests, unpricedRequests)));
  const tokens = BigInt(tokensOf(counters));
  return {
    cost: BigInt(knownCostNanoUsd(counters)),
    quantity: unit === 'requests' ? known : finished === 0n ? tokens : scaled(tokens, known, finished),
  };
};

/** The effects among models whose quantity has the same unit. */
const effectsOf = (models: readonly ModelSums[], unit: 'tokens' | 'requests') => {
  const sums = models.map(({ before, now }) => ({ before: measured(before, unit), now: measured(now, unit) }));
  const total = { cost: 0n, quantity: 0n, costBefore: 0n, quantityBefore: 0n };
  let price = 0n;
  for (const { before, now } of sums) {
    total.cost += now.cost;
    total.quantity += now.quantity;
    total.costBefore += before.cost;
    total.quantityBefore += before.quantity;
    if (before.quantity > 0n && now.quantity > 0n)
      price += now.cost - scaled(before.cost, now.quantity, before.quantity);
  }
  const change = total.cost - total.costBefore;
  const growth = total.quantity - total.quantityBefore;
  const volume = total.quantityBefore === 0n ? change - price : scaled(total.costBefore, growth, total.quantityBefore);
  return { volume, price, mix: change - volume - price };
};

/**
 * Why the known cost changed from one period to another. Of each model `i`, with `0` before and `1` now, `C` is the known cost and `q` the
 * quantity; `Q` is the sum of all `q`.
 *
 *     volume = Σ C0ᵢ × (Q1 − Q0) / Q0           the same models at the same cost for a token, in other numbers
 *     price  = Σ (C1ᵢ − q1ᵢ × C0ᵢ / q0ᵢ)        of models that both periods have: a token of the same model costs more or less
 *     mix    = the rest of the change           other models than before, new ones and vanished ones included
 *
 * Price is the cost of a token of the same model. So it includes, next to rates, what makes tokens of a model dearer: a greater share of
 * output, fewer tokens from a cache, a service tier. Counters have no cost by kind of token that could separate them.
 *
 * - **Quantity** is input and output tokens. Models without a token in both periods (images, seconds, characters) are measured in requests
 *   of known cost, and have a Q of their own.
 * - **Unknown costs** are in no effect. Of a model's tokens counts the share of its finished requests whose cost is known: all tokens where
 *   none is unknown. What a model cost before its cost became unknown is in the mix.
 * - Where the period before has no quantity, the change is volume.
 * - Volume and price are rounded to nano-USD, and mix is what they leave.
 *
 * @returns null where an effect is above 2^53 - 1 and so not exact
 */
export const costEffects = (models: readonly ModelSums[]): CostEffects | null => {
  const hasTokens = ({ before, now }: ModelSums) => tokensOf(before) + tokensOf(now) > 0;
  const parts = [
    effectsOf(models.filter(hasTokens), 'tokens'),
    effectsOf(
      models.filter((model) => !hasTokens(model)),
      'requests',
    ),
  ];
  const sum = (name: 'volume' | 'mix' | 'price') => Number(parts.reduce((all, part) => all + part[name], 0n));
  const effects = { volumeNanoUsd: sum('volume'), mixNanoUsd: sum('mix'), priceNanoUsd: sum('price') };
  return Object.values(effects).every(Number.isSafeInteger) ? effects : null;
};

import type { SpendChange } from '../api/responses.ts';
import { type Shown, shownIn } from '../format/money.ts';

/** Costs of a sum before and now. */
export type Costs = Partial<Pick<SpendChange['totals'], 'displayCost' | 'displayCostBefore'>> &
  Pick<SpendChange['totals'], 'costNanoUsd' | 'costBeforeNanoUsd'>;

/** Costs before and now, and their change, in the display currency: each period at its own rates. */
export const shownCosts = (
  { displayCost = null, displayCostBefore = null }: Costs,
  code: string | null | undefined,
): Readonly<Record<'before' | 'now' | 'change', Shown | undefined>> => {
  const isKnown = displayCost !== null && displayCostBefore !== null;
  return {
    before: shownIn({ displayCost: displayCostBefore }, code),
    now: shownIn({ displayCost }, code),
    change: shownIn({ displayCost: isKnown ? String(Number(displayCost) - Number(displayCostBefore)) : null }, code),
  };
};

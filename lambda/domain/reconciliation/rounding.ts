import type { BillLine } from './bill.ts';

const CENT_NANO_USD = 10_000_000;
/** Bills that show more than cents are exact to a millionth of a dollar or better. */
const MICRO_USD_NANO_USD = 1_000;
/** Of sums of floating-point amounts. */
const RELATIVE = 1e-6;

/** The unit that a bill's amounts are rounded to, in nano-USD. */
export const roundingOf = (lines: readonly BillLine[]): number =>
  lines.every(({ amountNanoUsd }) => amountNanoUsd % CENT_NANO_USD === 0) ? CENT_NANO_USD : MICRO_USD_NANO_USD;

/** The largest difference that rounding each line can make, in nano-USD. */
export const roundingError = (
  { lines, billed }: { readonly lines: number; readonly billed: number },
  unitNanoUsd: number,
): number => (Math.max(1, lines) * unitNanoUsd) / 2 + Math.abs(billed) * RELATIVE;

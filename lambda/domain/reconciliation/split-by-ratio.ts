import { billedModel } from './bill.ts';
import type { ModelDay } from './model-day.ts';

const MIN_DAYS = 4;
/** How far apart the ratios of days are at least, where requests make the difference: these vary from day to day. */
const SPREAD = 0.02;
/** A ratio that comes about by such chance more rarely than this is a price. */
const MAX_CHANCE = 1e-6;

/** How likely a day's ratio agrees with another one by chance: the share of its difference that rounding leaves open. */
const chanceOf = ({ billed, recorded, roundingError }: ModelDay): number =>
  Math.min(1, roundingError / Math.min(Math.abs(billed - recorded), recorded * SPREAD));

/** Whether a ratio that these days have in common is a price. A small difference on a bill in whole cents needs more days. */
const isPrice = (run: readonly ModelDay[]): boolean =>
  run.length >= MIN_DAYS && run.slice(1).reduce((chance, day) => chance * chanceOf(day), 1) < MAX_CHANCE;

/**
 * Splits differences of amounts without token counts. A ratio of billed to recorded amounts that a model's days in succession have
 * in common, as exactly as the bill's rounding can show, is another price. Every other difference is a quantity.
 */
export const splitByRatio = (groups: readonly ModelDay[]): void => {
  for (const days of Map.groupBy(groups, ({ model }) => billedModel(model)).values()) {
    let run: ModelDay[] = [];
    let [least, most] = [0, Number.POSITIVE_INFINITY];
    const endRun = () => {
      const part = isPrice(run) ? 'price' : 'quantity';
      for (const day of run) day[part] = day.billed - day.recorded;
      run = [];
    };
    for (const day of days) {
      if (day.recorded <= 0) {
        endRun();
        day.quantity = day.billed - day.recorded;
        continue;
      }
      const from = (day.billed - day.roundingError) / day.recorded;
      const to = (day.billed + day.roundingError) / day.recorded;
      const isSame = run.length > 0 && Math.max(from, least) <= Math.min(to, most);
      if (!isSame) endRun();
      [least, most] = isSame ? [Math.max(from, least), Math.min(to, most)] : [from, to];
      run.push(day);
    }
    endRun();
  }
};

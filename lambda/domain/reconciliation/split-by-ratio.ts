import { billedModel } from './bill.ts';
import type { ModelDay } from './model-day.ts';
import { roundingError } from './rounding.ts';

/** A ratio of so many days in succession is a price, not chance. */
const MIN_DAYS = 4;

/**
 * Splits differences of amounts without token counts. A ratio of billed to recorded amounts that a model's days in succession have
 * in common, as exactly as the bill's rounding can show, is another price. Every other difference is a quantity.
 * @param unitNanoUsd what the bill's amounts are rounded to
 */
export const splitByRatio = (groups: readonly ModelDay[], unitNanoUsd: number): void => {
  for (const days of Map.groupBy(groups, ({ model }) => billedModel(model)).values()) {
    let run: ModelDay[] = [];
    let [least, most] = [0, Number.POSITIVE_INFINITY];
    const endRun = () => {
      const isPrice = run.length >= MIN_DAYS;
      for (const day of run) day[isPrice ? 'price' : 'quantity'] = day.billed - day.recorded;
      run = [];
    };
    for (const day of days) {
      if (day.recorded <= 0) {
        endRun();
        day.quantity = day.billed - day.recorded;
        continue;
      }
      const error = roundingError(day, unitNanoUsd);
      const [from, to] = [(day.billed - error) / day.recorded, (day.billed + error) / day.recorded];
      const isSame = run.length > 0 && Math.max(from, least) <= Math.min(to, most);
      if (!isSame) endRun();
      [least, most] = isSame ? [Math.max(from, least), Math.min(to, most)] : [from, to];
      run.push(day);
    }
    endRun();
  }
};

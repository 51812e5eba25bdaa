import type { Day } from '../calendar/utc.ts';
import { type BilledTokens, type BilledUsage, type BillLine, billedModel, type RecordedUsage } from './bill.ts';

/** One model on one day. The parts of its difference are moved from `quantity` and `price` to findings. */
export interface ModelDay {
  readonly day: Day;
  readonly model: string;
  billed: number;
  lines: number;
  usage: BilledUsage | null;
  recorded: number;
  requests: number;
  unpriced: number;
  tokens: BilledTokens;
  /** The largest part of its difference that rounding can have made, in nano-USD. */
  roundingError: number;
  /** More or fewer requests than recorded, at billed prices. */
  quantity: number;
  /** The recorded requests at other prices. */
  price: number;
}

const noTokens: BilledTokens = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0 };

const addTokens = (a: BilledTokens, b: BilledTokens): BilledTokens => ({
  input: a.input + b.input,
  cacheRead: a.cacheRead + b.cacheRead,
  cacheWrite: a.cacheWrite + b.cacheWrite,
  output: a.output + b.output,
});

/** A bill and the ledger, model by model and day by day, ascending by day. */
export const modelDays = (
  lines: readonly BillLine[],
  usages: readonly BilledUsage[],
  recorded: readonly RecordedUsage[],
): ModelDay[] => {
  const groups = new Map<string, ModelDay>();
  const groupOf = (day: Day, model: string): ModelDay => {
    const key = `${day} ${billedModel(model)}`;
    const group = groups.get(key) ?? {
      day,
      model,
      billed: 0,
      lines: 0,
      usage: null,
      recorded: 0,
      requests: 0,
      unpriced: 0,
      tokens: noTokens,
      roundingError: 0,
      quantity: 0,
      price: 0,
    };
    groups.set(key, group);
    return group;
  };
  for (const line of lines) {
    if (line.model === null) continue;
    const group = groupOf(line.day, line.model);
    group.billed += line.amountNanoUsd;
    group.lines += 1;
  }
  for (const usage of usages) {
    const group = groupOf(usage.day, usage.model);
    const before = group.usage;
    group.usage = before
      ? {
          ...before,
          tokens: addTokens(before.tokens, usage.tokens),
          requests: before.requests === null || usage.requests === null ? null : before.requests + usage.requests,
        }
      : usage;
  }
  for (const record of recorded) {
    const group = groupOf(record.day, record.model ?? '(no model)');
    group.recorded += record.costNanoUsd;
    group.requests += record.requests;
    group.unpriced += record.unpricedRequests;
    group.tokens = addTokens(group.tokens, record.tokens);
  }
  return [...groups.values()].sort((a, b) => (a.day === b.day ? (a.model < b.model ? -1 : 1) : a.day < b.day ? -1 : 1));
};

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

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

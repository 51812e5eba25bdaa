import type { Day } from '../calendar/utc.ts';
import { type Bill, type BilledTokens, type BillLine, billedModel, type RecordedUsage } from './bill.ts';
import { type ModelDay, modelDays, splitByRatio } from './model-day.ts';

const CENT_NANO_USD = 10_000_000;
/** Bills that show more than cents are exact to a millionth of a dollar or better. */
const MICRO_USD_NANO_USD = 1_000;
/** Sums of floating-point amounts are this exact. */
const RELATIVE = 1e-6;

/** The unit that a bill's amounts are rounded to, in nano-USD. */
const roundingOf = (lines: readonly BillLine[]): number =>
  lines.every(({ amountNanoUsd }) => amountNanoUsd % CENT_NANO_USD === 0) ? CENT_NANO_USD : MICRO_USD_NANO_USD;

/** The largest difference that rounding each line can make, in nano-USD. */
const roundingError = (
  { lines, billed }: { readonly lines: number; readonly billed: number },
  unitNanoUsd: number,
): number => (Math.max(1, lines) * unitNanoUsd) / 2 + Math.abs(billed) * RELATIVE;

/** Why the billed amount is not the recorded one. */
export const buckets = [
  'notThroughGateway',
  'priceDiffers',
  'discount',
  'timing',
  'rounding',
  'trackingGap',
  'unknownCost',
  'notBilledYet',
  'unexplained',
] as const;
export type Bucket = (typeof buckets)[number];

/** A part of the difference and its cause. */
interface Finding {
  readonly bucket: Bucket;
  readonly day: Day;
  /** As the bill names it; null for fees and credits. */
  readonly model: string | null;
  /** The bill's item, where the finding is about one line. */
  readonly item: string | null;
  /** Billed less recorded. */
  readonly amountNanoUsd: number;
}

export interface Reconciliation {
  readonly billedNanoUsd: number;
  readonly recordedNanoUsd: number;
  /** Their sum by bucket is exactly billed less recorded. */
  readonly differences: Readonly<Record<Bucket, number>>;
  /** Largest first. */
  readonly findings: readonly Finding[];
}

export interface ReconcileInput {
  /** First and last day, UTC. Lines and records of other days are ignored. */
  readonly from: Day;
  readonly to: Day;
  readonly bill: Bill;
  readonly recorded: readonly RecordedUsage[];
  /** Requests of each day that are known to have no record. */
  readonly untracked: ReadonlyMap<Day, number>;
  /** List price of these tokens, in any unit; null where the model has no list price. */
  readonly listCost: (model: string, day: Day, tokens: BilledTokens) => number | null;
}

const CREDIT = /\b(credit|discount|promo|refund|grant)/i;

/**
 * Explains the difference between one provider's bill and the ledger, to the nano-dollar: each part of it is in one bucket.
 * With the provider's own token counts, more tokens than recorded are requests that did not pass the gateway, and other prices for
 * the same tokens are a price difference. Invoices have amounts only: a ratio that repeats over days is a price difference.
 */
export const reconcile = (input: ReconcileInput): Reconciliation => {
  const findings = new Map<string, Finding>();
  const inRange = ({ day }: { readonly day: Day }) => day >= input.from && day <= input.to;
  const lines = input.bill.lines.filter(inRange);
  const days = modelDays(lines, input.bill.usage.filter(inRange), input.recorded.filter(inRange));
  const add: Add = (bucket, { day, model }, amountNanoUsd, item = null) => {
    const key = JSON.stringify([bucket, day, model, item]);
    const sum = (findings.get(key)?.amountNanoUsd ?? 0) + amountNanoUsd;
    if (sum === 0) findings.delete(key);
    else findings.set(key, { bucket, day, model, item, amountNanoUsd: sum });
  };

  matchCredits(lines, days, add);
  matchFees(lines, days, add);
  const unit = roundingOf(lines);
  for (const group of days) group.roundingError = roundingError(group, unit);
  const billedDays = new Set(lines.flatMap(({ day, amountNanoUsd }) => (amountNanoUsd < 0 ? [] : [day])));
  const compared: ModelDay[] = [];
  for (const group of days) {
    const difference = group.billed - group.recorded;
    if (!billedDays.has(group.day)) add('notBilledYet', group, difference);
    else if (Math.abs(difference) <= group.roundingError) add('rounding', group, difference);
    else compared.push(group);
  }
  splitDifferences(compared, input.listCost);
  for (const group of compared) {
    takeUnknownCost(group, add);
    roundOff(group, 'quantity', add);
    roundOff(group, 'price', add);
  }
  namePrices(compared, add);
  matchNeighbours(compared, input, add);
  takeTrackingGaps(compared, days, input.untracked, add);
  for (const group of compared) {
    roundOff(group, 'quantity', add);
    add(group.quantity > 0 ? 'notThroughGateway' : 'unexplained', group, group.quantity);
  }
  return summaryOf(lines, days, [...findings.values()]);
};

type Add = (
  bucket: Bucket,
  at: { day: Day; model: string | null },
  amountNanoUsd: number,
  item?: string | null,
) => void;

const roundOff = (group: ModelDay, part: 'quantity' | 'price', add: Add): void => {
  if (Math.abs(group[part]) > group.roundingError) return;
  add('rounding', group, group[part]);
  group[part] = 0;
};

/** Credits of a model, as far as less is billed than recorded: a line that takes back another one is no discount. */
const matchCredits = (lines: readonly BillLine[], days: readonly ModelDay[], add: Add): void => {
  for (const { day, model, item, amountNanoUsd } of lines) {
    const name = model !== null && amountNanoUsd < 0 && billedModel(model);
    const group = days.find((each) => each.day === day && billedModel(each.model) === name);
    if (!group) continue;
    const credit = Math.max(amountNanoUsd, Math.min(0, group.billed - group.recorded));
    add('discount', group, credit, item);
    group.billed -= credit;
  }
};

/** Fees that the bill lists apart (searches, code execution) are in the recorded cost of a model. Credits are discounts. */
const matchFees = (lines: readonly BillLine[], days: readonly ModelDay[], add: Add): void => {
  for (const line of lines) {
    if (line.model !== null) continue;
    const isCredit = line.amountNanoUsd < 0 || CREDIT.test(line.item);
    let rest = line.amountNanoUsd;
    if (!isCredit) {
      for (const group of days.filter(({ day }) => day === line.day)) {
        const missing = Math.min(rest, Math.max(0, group.recorded - group.billed));
        group.billed += missing;
        rest -= missing;
      }
    }
    add(isCredit ? 'discount' : 'notThroughGateway', { day: line.day, model: null }, rest, line.item);
  }
};

/** Splits each difference into one of quantity and one of price. */
const splitDifferences = (groups: readonly ModelDay[], listCost: ReconcileInput['listCost']): void => {
  const withoutUsage: ModelDay[] = [];
  for (const group of groups) {
    const counted = group.usage && totalOf(group.usage.tokens);
    if (!group.usage || !counted) {
      withoutUsage.push(group);
      continue;
    }
    const billedCost = listCost(group.model, group.day, group.usage.tokens);
    const recordedCost = listCost(group.model, group.day, group.tokens);
    const share = billedCost && recordedCost !== null ? recordedCost / billedCost : totalOf(group.tokens) / counted;
    // Tokens that only one of the two has are at its price: a count that comes late makes no part larger than both amounts.
    group.quantity = Math.round(share > 1 ? group.recorded * (1 / share - 1) : group.billed * (1 - share));
    group.price = group.billed - group.recorded - group.quantity;
  }
  splitByRatio(withoutUsage);
};

const totalOf = ({ input, cacheRead, cacheWrite, output }: BilledTokens): number =>
  input + cacheRead + cacheWrite + output;

/** Requests without a price are billed and add nothing to the recorded cost. */
const takeUnknownCost = (group: ModelDay, add: Add): void => {
  if (group.unpriced === 0) return;
  if (group.usage) {
    if (group.price <= 0) return;
    add('unknownCost', group, group.price);
    group.price = 0;
    return;
  }
  const all = Math.max(0, group.quantity + group.price);
  const isAll = group.unpriced === group.requests;
  const part = isAll ? all : Math.min(all, Math.round((group.billed / group.requests) * group.unpriced));
  add('unknownCost', group, part);
  group.quantity += group.price - part;
  group.price = 0;
};

/** The largest share of a day's amount that may be on another day's bill. */
const MAX_TIMING_SHARE = 0.25;

/**
 * A request that ends around midnight is on its neighbour's bill. What the days of a model have less, days after them have more
 * (or days before them, where a provider counts by another clock).
 */
const matchNeighbours = (groups: readonly ModelDay[], { to }: { to: Day }, add: Add): void => {
  for (const days of Map.groupBy(groups, ({ model }) => billedModel(model)).values()) {
    matchLater(days, add);
    matchLater(days.toReversed(), add);
    // The day after the last one is not known.
    const last = days.at(-1);
    if (last?.day !== to || !isTiming(last)) continue;
    add('timing', last, last.quantity);
    last.quantity = 0;
  }
};

const isTiming = ({ quantity, recorded }: ModelDay): boolean =>
  quantity < 0 && -quantity <= recorded * MAX_TIMING_SHARE;

const matchLater = (days: readonly ModelDay[], add: Add): void => {
  let waiting: ModelDay[] = [];
  for (const day of days) {
    if (isTiming(day)) waiting.push(day);
    while (day.quantity > 0 && waiting[0]) {
      const moved = Math.min(day.quantity, -waiting[0].quantity);
      add('timing', waiting[0], -moved);
      add('timing', day, moved);
      waiting[0].quantity += moved;
      day.quantity -= moved;
      // The rest of either has the rounding of both: it adds up from day to day.
      waiting[0].roundingError += day.roundingError;
      day.roundingError = waiting[0].roundingError;
      if (waiting[0].quantity === 0) waiting = waiting.slice(1);
    }
  }
};

/** How much dearer than the day's average untracked requests may have been. */
const MAX_GAP_COST_RATIO = 2;

/** Requests that are known to have no record explain as much as their number allows. */
const takeTrackingGaps = (
  groups: readonly ModelDay[],
  all: readonly ModelDay[],
  untracked: ReadonlyMap<Day, number>,
  add: Add,
): void => {
  for (const [day, count] of untracked) {
    let left = count;
    const ofDay = all.filter((group) => group.day === day);
    const requests = ofDay.reduce((sum, group) => sum + group.requests, 0);
    const cost = ofDay.reduce((sum, group) => sum + group.recorded, 0);
    const candidates = groups.filter((group) => group.day === day && group.quantity > 0 && group.requests > 0);
    for (const group of candidates.sort((a, b) => b.quantity - a.quantity)) {
      const missing = group.usage?.requests == null ? null : group.usage.requests - group.requests;
      if (missing !== null && missing <= 0) continue;
      const average = group.recorded > 0 ? group.recorded / group.requests : cost / Math.max(1, requests);
      const limit = missing === null ? Math.round(left * average * MAX_GAP_COST_RATIO) : group.quantity;
      const isWithin = missing === null || missing <= left;
      const part = isWithin ? Math.min(group.quantity, limit) : Math.round((group.quantity * left) / missing);
      add('trackingGap', group, part);
      group.quantity -= part;
      left -= Math.min(left, missing ?? Math.ceil(part / Math.max(1, average)));
    }
  }
};

/** Ratios of billed to recorded prices count as equal within this and the bill's rounding. */
const SAME_RATIO = 0.004;

/** The same lower ratio for all models of a day is a discount; a ratio of one model is its price. */
const namePrices = (groups: readonly ModelDay[], add: Add): void => {
  for (const ofDay of Map.groupBy(groups, ({ day }) => day).values()) {
    const compared = ofDay.filter(({ recorded }) => recorded > 0);
    const highest = (amountOf: (group: ModelDay) => number): number =>
      Math.max(...compared.map((group) => amountOf(group) / group.recorded));
    const isLower = highest(({ price }) => price) < -SAME_RATIO / 2;
    const apart =
      highest(({ price, roundingError }) => price - roundingError) +
      highest(({ price, roundingError }) => -price - roundingError);
    const isDiscount = compared.length > 1 && isLower && apart <= SAME_RATIO;
    for (const group of ofDay) {
      add(isDiscount && group.recorded > 0 ? 'discount' : 'priceDiffers', group, group.price);
      group.price = 0;
    }
  }
};

const summaryOf = (
  lines: readonly BillLine[],
  days: readonly ModelDay[],
  findings: readonly Finding[],
): Reconciliation => {
  const differences = Object.fromEntries(buckets.map((bucket) => [bucket, 0])) as Record<Bucket, number>;
  for (const { bucket, amountNanoUsd } of findings) differences[bucket] += amountNanoUsd;
  return {
    billedNanoUsd: lines.reduce((sum, { amountNanoUsd }) => sum + amountNanoUsd, 0),
    recordedNanoUsd: days.reduce((sum, { recorded }) => sum + recorded, 0),
    differences,
    findings: findings.toSorted((a, b) => Math.abs(b.amountNanoUsd) - Math.abs(a.amountNanoUsd)),
  };
};

import type { Range } from '../calendar/range.ts';
import { atListCost, type SpendCounter } from './counters.ts';
import {
  type CountedDimensionName,
  countedDimensions,
  isKeyDimension,
  OTHER,
  type SpendDimensionName,
} from './dimensions.ts';
import { type DisplayCurrency, displayRates } from './display-currency.ts';
import { type KeyOfSpend, keyDimensionsOf } from './key-dimensions.ts';

/** Which cost is shown: the effective one, with the account's own prices, or the one at list prices. */
export const costBases = ['effective', 'list'] as const;
type CostBasis = (typeof costBases)[number];

/** Lets a spend counter pass whose value is in the list, for every dimension with a list. Null stands for "none". */
export type SpendFilter = Partial<Readonly<Record<SpendDimensionName, readonly (string | null)[]>>>;

export interface SpendQuestion {
  readonly accountId: string;
  readonly range: Range;
  /** Dimensions that are certain to be separate, next to those of the filter. Fewer cost less to read. */
  readonly groupBy: readonly SpendDimensionName[];
  /** The filter of whoever adds up. A month names every value that its days name of these dimensions. */
  readonly filter?: SpendFilter;
  /** The keys that whoever asks sees, if not all: nothing of other keys is read, and none of what may be of others. */
  readonly keyIds?: ReadonlySet<string> | undefined;
  /** Default: `effective`. */
  readonly cost?: CostBasis;
  /** Splits costs by the rates of their days, too: see displayCostOf. */
  readonly currency?: DisplayCurrency | null;
  /** Makes sure that durations are included. Default: they may be left out. */
  readonly latency?: boolean;
}

/**
 * Reads the spend counters for a question, ascending by time. All spend of the range is in them: whoever adds them up applies the
 * filter, since requests under `(other)` may pass it.
 */
export type ReadCounters = (question: SpendQuestion) => AsyncIterable<SpendCounter>;

/** A question in the terms of stored counters. */
export interface StoredQuery {
  readonly accountId: string;
  readonly range: Range;
  /** Only these are certain to be separate. */
  readonly dimensions: readonly CountedDimensionName[];
  /** Dimensions of which a month names every value that its days name. */
  readonly separate: readonly CountedDimensionName[];
  readonly withDurations: boolean;
}

interface SpendSource {
  /** Reads spend counters ascending by time. */
  readonly readStored: (query: StoredQuery) => AsyncIterable<SpendCounter>;
  /** Lists all keys of an account, also revoked ones. It is called for questions about projects and members only. */
  readonly listKeys: (accountId: string) => Promise<readonly KeyOfSpend[]>;
}

/** A filter that lets nothing pass but spend of the keys that somebody sees. */
export const seenFilter = (filter: SpendFilter, keyIds: ReadonlySet<string> | undefined): SpendFilter =>
  keyIds === undefined
    ? filter
    : { ...filter, keyId: [...keyIds].filter((keyId) => filter.keyId?.includes(keyId) ?? true) };

const namesIn = (filter: SpendFilter) => Object.keys(filter) as SpendDimensionName[];

/** A filter that names `(other)` asks for what a summary has there. */
const separateFor = (filter: SpendFilter): SpendDimensionName[] =>
  namesIn(filter).filter((name) => !filter[name]?.includes(OTHER));

/**
 * Reads counters for questions. A key that moves to another project takes its past along: nothing is counted by project. Its member is the
 * same for ever.
 */
export const readCountersFrom =
  ({ readStored, listKeys }: SpendSource): ReadCounters =>
  ({ accountId, range, groupBy, cost = 'effective', currency = null, latency = false, ...asked }) => {
    const filter = seenFilter(asked.filter ?? {}, asked.keyIds);
    const names = [...groupBy, ...namesIn(filter)];
    const rates = currency && displayRates(currency, range);
    const stored = readStored({
      accountId,
      range: rates?.range ?? range,
      dimensions: countedDimensions(names),
      separate: countedDimensions(separateFor(filter)),
      withDurations: latency,
    });
    const ofKeys = names.filter(isKeyDimension);
    if (ofKeys.length === 0 && rates === null && cost === 'effective' && !asked.keyIds) return stored;
    return (async function* () {
      const keys = ofKeys.length > 0 ? await listKeys(accountId) : [];
      const valuesOf = new Map(keys.map((key) => [key.keyId, keyDimensionsOf(key)]));
      for await (const counter of stored) {
        const { time } = counter;
        let { dimensions, counters } = counter;
        const { keyId } = dimensions;
        // Requests of `(other)` keys may be of anybody: a part shows that there are some, and no figure of them.
        if (asked.keyIds && keyId === OTHER) counters = {};
        for (const name of ofKeys)
          dimensions = { ...dimensions, [name]: keyId === OTHER ? OTHER : (valuesOf.get(keyId ?? '')?.[name] ?? null) };
        if (cost === 'list') counters = atListCost(counters);
        if (rates) counters = rates.split(time, counters);
        yield { time, dimensions, counters };
      }
    })();
  };

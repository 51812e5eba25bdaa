import { type GenaiPriceList, openGenaiPrices } from '../genai-prices.ts';
import type { PriceLists } from '../price-book.ts';
import type { PriceLookup, TokenPriceList } from '../rates.ts';
import { openSecondPrices } from '../second-book.ts';
import type { FeedSource } from './feed-sources.ts';
import { genaiFormat, tokenPriceFormat } from './list-formats.ts';
import { mergeList, type PriceChange } from './merge-list.ts';

/** Published lists of the sources; a source that is not configured or failed is absent. */
export interface FetchedLists {
  readonly 'genai-prices'?: GenaiPriceList;
  readonly 'models.dev'?: TokenPriceList;
}

export interface SourcedChange extends PriceChange {
  readonly source: FeedSource;
}

/** A large change that was not taken. */
export interface WaitingChange extends SourcedChange {
  /** By which a person accepts or refuses it. */
  readonly number: number;
  /** ISO 8601. */
  readonly firstSeenAt: string;
  readonly decision: 'accepted' | 'refused' | null;
}

export interface NextLists {
  readonly lists: PriceLists;
  readonly changes: readonly SourcedChange[];
  readonly waiting: readonly WaitingChange[];
  /** Sources whose data was refused as a whole. */
  readonly refused: readonly FeedSource[];
  /** The number of the next change that has to wait. */
  readonly nextNumber: number;
}

/** The same change again, also if it is seen later. */
const nameOf = ({ source, provider, entry, after }: SourcedChange): string =>
  JSON.stringify([source, provider, entry, after && Object.entries(after).sort()]);

const CONFIRMED_WITHIN = 0.01;

/** Whether the other source has the same price for input and output. */
const isConfirmedBy = (
  lookup: PriceLookup | undefined,
  { provider, model, after }: PriceChange,
  now: Date,
): boolean => {
  const rates = lookup?.({ provider, model, at: now, inputTokens: 1_000 })?.rates;
  if (!rates || !after) return false;
  return (['input', 'output'] as const).every((kind) => {
    const theirs = Number(rates[kind] ?? 0n) / 1e12;
    const ours = after[kind] ?? 0;
    return Math.abs(theirs - ours) <= CONFIRMED_WITHIN * Math.max(theirs, ours);
  });
};

/** A source that has lost more of a provider's models, or all providers, is broken. */
const MIN_SHARE = 0.5;

type Lists = Readonly<Record<string, readonly unknown[]>>;

const isBroken = (before: Lists, after: Lists): boolean =>
  Object.keys(after).length === 0 ||
  Object.entries(after).some(([provider, { length }]) => length < MIN_SHARE * (before[provider]?.length ?? 0));

interface Options {
  readonly now: Date;
  readonly waiting: readonly WaitingChange[];
  readonly nextNumber: number;
}

/** The price lists that follow from the newest ones and what the sources publish. Large changes wait, as does what people refused. */
export const nextLists = (current: PriceLists, fetched: FetchedLists, options: Options): NextLists => {
  const { now } = options;
  const known = new Map(options.waiting.map((change) => [nameOf(change), change]));
  const changes: SourcedChange[] = [];
  const waiting: WaitingChange[] = [];
  const refused: FeedSource[] = [];
  let { nextNumber } = options;

  const merge = <E extends { readonly id: string }>(
    source: FeedSource,
    format: Parameters<typeof mergeList<E>>[0],
    before: Parameters<typeof mergeList<E>>[1],
    after: Parameters<typeof mergeList<E>>[2],
    other: PriceLookup | undefined,
  ) => {
    if (isBroken(before, after)) {
      refused.push(source);
      waiting.push(...options.waiting.filter((change) => change.source === source));
      return before;
    }
    const merged = mergeList<E>(format, before, after, {
      now,
      isAllowed: (change) => {
        const decision = known.get(nameOf({ ...change, source }))?.decision;
        return decision === 'accepted' || (decision !== 'refused' && isConfirmedBy(other, change, now));
      },
      since: (provider, entry) =>
        options.waiting.find((each) => each.source === source && each.provider === provider && each.entry === entry)
          ?.firstSeenAt ?? now.toISOString(),
    });
    changes.push(...merged.changes.map((change) => ({ ...change, source })));
    for (const change of merged.held) {
      const sourced = { ...change, source };
      waiting.push(
        known.get(nameOf(sourced)) ?? {
          ...sourced,
          number: nextNumber++,
          firstSeenAt: now.toISOString(),
          decision: null,
        },
      );
    }
    if (merged.isRefused) refused.push(source);
    return merged.entries;
  };

  const { 'genai-prices': genai, 'models.dev': modelsDev } = fetched;
  let { genaiPrices, secondPrices } = current;
  if (genai) {
    const format = genaiFormat({ ...current.genaiPrices, ...genai });
    const other = modelsDev && openSecondPrices({ name: 'models.dev', prices: modelsDev });
    const before = format.entriesOf(current.genaiPrices);
    genaiPrices = format.listOf(merge('genai-prices', format, before, format.entriesOf(genai), other));
  } else waiting.push(...options.waiting.filter(({ source }) => source === 'genai-prices'));
  if (modelsDev) {
    const format = tokenPriceFormat('models.dev');
    const other = genai && openGenaiPrices(genai);
    const before = format.entriesOf(current.secondPrices.prices);
    const entries = merge('models.dev', format, before, format.entriesOf(modelsDev), other);
    secondPrices = { name: 'models.dev', prices: format.listOf(entries) };
  } else waiting.push(...options.waiting.filter(({ source }) => source === 'models.dev'));
  return { lists: { genaiPrices, secondPrices }, changes, waiting, refused, nextNumber };
};

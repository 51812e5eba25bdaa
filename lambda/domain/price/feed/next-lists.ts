import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod/mini';
import { dayOf } from '../../calendar/utc.ts';
import { type GenaiPriceList, openGenaiPrices } from '../genai-prices.ts';
import { type PriceLists, waitingOverrides } from '../price-book.ts';
import { comparedPromptTokens, type PriceDoubt, type PriceLookup, type TokenPriceList } from '../rates.ts';
import { openSecondPrices } from '../second-book.ts';
import { type FeedSource, feedSources } from './feed-sources.ts';
import { genaiFormat, tokenPriceFormat } from './list-formats.ts';
import { type Entries, mergeList, type PriceChange, priceChangeSchema, shownPrices } from './merge-list.ts';

/** A first price is plausible up to as often the highest price of its family, and down to this part of the lowest. */
const MAX_FACTOR = 10;
/** Fewer models are no family: then those of the whole provider are compared. */
const MIN_FAMILY = 3;

type Prices = Readonly<Record<string, number>>;

/** `gpt` of `gpt-6.1-terra`: what the name begins with. */
const familyOf = (model: string): string => /[a-z]+/.exec(model.slice(model.lastIndexOf('/') + 1))?.[0] ?? '';

/**
 * Whether a first price is in the range of its family's prices, else of its provider's. Kinds that nobody else has are not judged.
 *
 * @param pricesOf the prices of a model in the list of before, in USD per million tokens
 */
const openPlausible = <E>(
  entries: Entries<E>,
  namesOf: (entry: E) => readonly string[],
  pricesOf: (provider: string, model: string) => Prices | null,
): ((change: PriceChange) => boolean) => {
  const byProvider = new Map<string, readonly (readonly [family: string, prices: Prices])[]>();
  const modelsOf = (provider: string) => {
    const known =
      byProvider.get(provider) ??
      (entries[provider] ?? []).flatMap((entry) => {
        const [name] = namesOf(entry);
        const prices = name === undefined ? null : pricesOf(provider, name);
        return prices ? [[familyOf(name as string), prices] as const] : [];
      });
    byProvider.set(provider, known);
    return known;
  };
  return ({ provider, model, after }) =>
    Object.entries(after ?? {}).every(([kind, usd]) => {
      if (usd === 0) return true;
      const all = modelsOf(provider).flatMap(([family, prices]) =>
        prices[kind] ? [[family, prices[kind]] as const] : [],
      );
      const related = all.filter(([family]) => family === familyOf(model));
      const range = (related.length < MIN_FAMILY ? all : related).map(([, price]) => price);
      return range.length === 0 || (usd <= MAX_FACTOR * Math.max(...range) && usd * MAX_FACTOR >= Math.min(...range));
    });
};

/** Published lists of the sources; a source that is not configured or failed is absent. */
export interface FetchedLists {
  readonly 'genai-prices'?: GenaiPriceList;
  readonly 'models.dev'?: TokenPriceList;
}

const sourcedChangeSchema = z.extend(priceChangeSchema, { source: z.enum(feedSources) });
export type SourcedChange = z.infer<typeof sourcedChangeSchema>;

/**
 * Why a change waits: the price is half more or less; out of the range of its family; one of many that change at once; the first of a model,
 * from one source alone, which holds meanwhile; or another one than that of an override, which holds until its row in the code is renewed.
 */
export const waitingReasons = ['step', 'range', 'many', 'oneSource', 'override'] as const;

/** A change that waits for the other source or a person. */
export const waitingChangeSchema = z.extend(sourcedChangeSchema, {
  /** Absent for those of before 2026-11-24, which are steps. */
  why: z.optional(z.enum(waitingReasons)),
  /** By which a person accepts or refuses it. */
  number: z.int(),
  firstSeenAt: z.iso.datetime(),
  decision: z._default(z.nullable(z.enum(['accepted', 'refused'])), null),
});

export type WaitingChange = z.infer<typeof waitingChangeSchema>;

export interface NextLists {
  readonly lists: PriceLists;
  /** Whether prices, or how sure they are, differ from the current ones. */
  readonly isChanged: boolean;
  readonly changes: readonly SourcedChange[];
  readonly waiting: readonly WaitingChange[];
  /** Sources whose data was refused, as a whole or of a provider. */
  readonly refused: readonly FeedSource[];
  /** The number of the next change that has to wait. */
  readonly nextNumber: number;
}

/** The same change again, also if it is seen later. */
const nameOf = ({ source, provider, entry, after }: SourcedChange): string =>
  JSON.stringify([source, provider, entry, after && Object.entries(after).sort()]);

const CONFIRMED_WITHIN = 0.01;

/** More prices of a provider than this, and than this share of its models, do not change at once without confirmation. */
const MANY = 5;
const MANY_SHARE = 0.05;

/** Whether the other source has the same price for input and output. A pattern is no second source: it may mean other models. */
const isConfirmedBy = (
  lookup: PriceLookup | undefined,
  { provider, model, after, inputTokens = 1_000 }: PriceChange,
  now: Date,
): boolean => {
  const { rates, match } = lookup?.({ provider, model, at: now, inputTokens }) ?? {};
  if (!rates || !after || match === 'pattern') return false;
  return (['input', 'output'] as const).every((kind) => {
    const theirs = Number(rates[kind] ?? 0n) / 1e12;
    const ours = after[kind] ?? 0;
    return Math.abs(theirs - ours) <= CONFIRMED_WITHIN * Math.max(theirs, ours);
  });
};

/** A source that has less of a provider's models is broken there. It may also have dropped old models, which our list keeps. */
const MIN_SHARE = 0.5;

interface Options {
  readonly now: Date;
  readonly waiting: readonly WaitingChange[];
  readonly nextNumber: number;
}

/** The price lists that follow from the newest ones and what the sources publish. What is not sure waits, as does what people refused. */
export const nextLists = (current: PriceLists, fetched: FetchedLists, options: Options): NextLists => {
  const { now } = options;
  const open = options.waiting.filter(({ why }) => why !== 'override');
  const known = new Map(options.waiting.map((change) => [nameOf(change), change]));
  const changes: SourcedChange[] = [];
  const waiting: WaitingChange[] = [];
  const refused: FeedSource[] = [];
  let { nextNumber } = options;

  const add = (sourced: SourcedChange, why: WaitingChange['why']) => {
    const {
      number = nextNumber++,
      firstSeenAt = now.toISOString(),
      decision = null,
    } = known.get(nameOf(sourced)) ?? {};
    waiting.push({ ...sourced, why, number, firstSeenAt, decision });
  };

  const merge = <E extends { readonly id: string }>(
    source: FeedSource,
    format: Parameters<typeof mergeList<E>>[0],
    before: Parameters<typeof mergeList<E>>[1],
    published: Parameters<typeof mergeList<E>>[2],
    other: PriceLookup | undefined,
  ) => {
    const after = Object.fromEntries(
      Object.entries(published).filter(
        ([provider, { length }]) => length >= MIN_SHARE * (before[provider]?.length ?? 0),
      ),
    );
    // A list without any provider is broken, too.
    const isBroken = Object.keys(after).length < (Object.keys(published).length || 1);
    const decisionOn = (change: PriceChange) => known.get(nameOf({ ...change, source }))?.decision;
    const isConfirmed = (change: PriceChange) =>
      decisionOn(change) === 'accepted' || (decisionOn(change) !== 'refused' && isConfirmedBy(other, change, now));
    const ours = open.filter((change) => change.source === source);
    const waitingFirst = ours.filter(({ why }) => why === 'oneSource');
    waiting.push(...ours.filter(({ provider, why }) => why !== 'oneSource' && !(provider in after)));
    const withoutRefused = Object.fromEntries(
      Object.entries(before).map(([provider, entries]) => {
        const isRefused = (entry: E) =>
          waitingFirst.some(
            (each) => each.decision === 'refused' && each.provider === provider && each.entry === entry.id,
          );
        return [provider, entries.filter((entry) => !isRefused(entry))];
      }),
    );
    const lookup = format.open(withoutRefused);
    const isPlausible = openPlausible(withoutRefused, format.namesOf, (provider, model) =>
      shownPrices(lookup({ provider, model, at: now, inputTokens: 1_000 })?.rates),
    );
    const mergeBut = (providers: ReadonlySet<string>) =>
      mergeList<E>(format, withoutRefused, after, {
        now,
        isPlausible,
        isAllowed: (change, isLarge) => {
          if (decisionOn(change) === 'refused') return false;
          const isOneOfMany = providers.has(change.provider) && change.before !== null;
          return isConfirmed(change) || !(isLarge || isOneOfMany);
        },
        since: (provider, entry) =>
          ours.find((each) => each.why !== 'oneSource' && each.provider === provider && each.entry === entry)
            ?.firstSeenAt ?? now.toISOString(),
      });
    const first = mergeBut(new Set());
    const unsure = first.changes.filter((change) => change.before && !isConfirmed(change));
    // Prices of long prompts alone do not count: lists that say their limits better change them.
    const counted = unsure.filter(({ inputTokens }) => inputTokens === comparedPromptTokens[0]);
    const many = [...Map.groupBy(counted, ({ provider }) => provider)].flatMap(([provider, { length }]) =>
      length > Math.max(MANY, MANY_SHARE * (before[provider]?.length ?? 0)) ? [provider] : [],
    );
    const merged = many.length > 0 ? mergeBut(new Set(many)) : first;
    changes.push(...merged.changes.map((change) => ({ ...change, source })));
    const isMany = (change: PriceChange) =>
      unsure.some((each) => nameOf({ ...each, source }) === nameOf({ ...change, source }));
    for (const change of merged.waiting)
      add({ ...change, source }, change.before === null ? 'range' : isMany(change) ? 'many' : 'step');
    const isChanged = ({ provider, entry }: PriceChange) =>
      merged.changes.some((each) => each.provider === provider && each.entry === entry);
    const firstOnes = [
      ...merged.changes.filter((change) => change.before === null),
      ...waitingFirst.filter((change) => change.decision !== 'refused' && !isChanged(change)),
    ];
    for (const change of firstOnes) if (!isConfirmed(change)) add({ ...change, source }, 'oneSource');
    if (merged.isRefused || isBroken) refused.push(source);
    return merged.entries;
  };

  const { 'genai-prices': genai, 'models.dev': modelsDev } = fetched;
  let { genaiPrices, secondPrices } = current;
  if (genai) {
    const format = genaiFormat({ ...current.genaiPrices, ...genai });
    const other = modelsDev && openSecondPrices({ name: 'models.dev', prices: modelsDev });
    const before = format.entriesOf(current.genaiPrices);
    genaiPrices = format.listOf(merge('genai-prices', format, before, format.entriesOf(genai), other));
  } else waiting.push(...open.filter(({ source }) => source === 'genai-prices'));
  if (modelsDev) {
    const format = tokenPriceFormat('models.dev');
    const other = genai && openGenaiPrices(genai);
    const before = format.entriesOf(current.secondPrices.prices);
    const entries = merge('models.dev', format, before, format.entriesOf(modelsDev), other);
    secondPrices = { name: 'models.dev', prices: format.listOf(entries) };
  } else waiting.push(...open.filter(({ source }) => source === 'models.dev'));
  for (const { provider, model, inputTokens, rates, moved } of waitingOverrides({ genaiPrices, secondPrices }, now)) {
    const prices = { before: shownPrices(rates), after: shownPrices(moved.rates) };
    const source = moved.source.startsWith('genai-prices:') ? 'genai-prices' : 'models.dev';
    add({ source, provider, model, entry: `override ${inputTokens} ${model}`, inputTokens, ...prices }, 'override');
  }
  const day = dayOf(now.toISOString());
  const asOf = { ...current.asOf, ...Object.fromEntries(Object.keys(fetched).map((source) => [source, day])) };
  const doubts = Object.fromEntries(
    waiting.flatMap(({ holds, decision, why }): [string, PriceDoubt][] =>
      holds !== undefined && decision === null ? [[holds, why === 'oneSource' ? 'oneSource' : 'changeWaits']] : [],
    ),
  );
  const isChanged = changes.length > 0 || !isDeepStrictEqual(doubts, current.doubts ?? {});
  return { lists: { genaiPrices, secondPrices, asOf, doubts }, isChanged, changes, waiting, refused, nextNumber };
};

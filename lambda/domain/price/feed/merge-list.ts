import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod/mini';
import { HOUR_MS } from '../../calendar/units.ts';
import { nanoUsdPerUnit } from '../../money.ts';
import { rateOf } from '../charge.ts';
import { comparedPromptTokens, type PriceLookup, type RateKind, type Rates, type SourcePrice } from '../rates.ts';

/** The entries of a price list by gateway label, in the order in which they are looked up. */
export type Entries<E> = Readonly<Record<string, readonly E[]>>;

/** How one kind of price list is read and changed. */
export interface ListFormat<E extends { readonly id: string }> {
  readonly open: (entries: Entries<E>) => PriceLookup;
  /** The names of models that the entry is sure to be for. */
  readonly namesOf: (entry: E) => readonly string[];
  /** Whether its price depends on the time. */
  readonly isTimed: (entry: E) => boolean;
  /** The newer entry, with what its price was until `since` (ISO 8601) where it does not say so itself. */
  readonly succeed: (before: E, after: E, since: string) => E;
}

/** A price that differs between two lists. Prices are in USD per million tokens; null where there is none. */
export const priceChangeSchema = z.object({
  provider: z.string(),
  model: z.string(),
  /** Id of the entry that has the new price, or had the lost one. */
  entry: z.string(),
  before: z.nullable(z.record(z.string(), z.number())),
  after: z.nullable(z.record(z.string(), z.number())),
  /** Size of the prompt whose price this is. */
  inputTokens: z.optional(z.int()),
  /** Source and entry of the price that holds until the change is decided on; absent where there is none. */
  holds: z.optional(z.string()),
});

export type PriceChange = z.infer<typeof priceChangeSchema>;

export interface Merged<E> {
  readonly entries: Entries<E>;
  readonly changes: readonly PriceChange[];
  /** Changes that may not be taken. Their entries are as before. */
  readonly waiting: readonly PriceChange[];
  /** The fetched list changes prices in a way that no entry explains, so nothing of it was taken. */
  readonly isRefused: boolean;
}

interface MergeOptions {
  readonly now: Date;
  /** Whether a first price is of the size of others. */
  readonly isPlausible: (change: PriceChange) => boolean;
  /** @param isLarge it is more than half higher or lower, or a first price that is not plausible */
  readonly isAllowed: (change: PriceChange, isLarge: boolean) => boolean;
  /** Since when the entry has its new price, ISO 8601. */
  readonly since: (provider: string, entry: string) => string;
}

/** Half more or half less. Compared as whole numbers: rates are exact. */
const isLargeStep = (before: bigint, after: bigint): boolean =>
  before === 0n ? after > 0n : 2n * after > 3n * before || 2n * after < before;

const isLarge = (before: Rates, after: Rates = {}): boolean =>
  Object.entries(before).some(([kind, from]) => {
    // Tokens without a rate of their own have that of the kind they are part of.
    const to = rateOf(after, kind as RateKind)?.rate;
    return to === undefined || isLargeStep(from, to);
  });

/** Rates in USD per million tokens or units. */
export const shownPrices = (rates: Rates | undefined) =>
  rates ? Object.fromEntries(Object.entries(rates).map(([kind, rate]) => [kind, nanoUsdPerUnit(rate) / 1_000])) : null;

const FAR_FUTURE = new Date('2100-01-01T00:00:00Z');

interface Judged {
  readonly change: PriceChange;
  readonly isLarge: boolean;
  /** The entries to keep as they were, one after the other, until the change is gone: the present entry, then its predecessor. */
  readonly keys: readonly string[];
}

const entryOf = (price: SourcePrice | null | undefined): string =>
  price ? price.source.slice(price.source.indexOf('/') + 1) : '';

/** Keeping one entry as it was may need another one to stay: that is part of the same change. */
const firstByName = (changes: Iterable<PriceChange>): PriceChange[] =>
  [...Map.groupBy(changes, ({ provider, model }) => `${provider}/${model}`).values()].map(
    ([first]) => first as PriceChange,
  );

const isSameList = (a: readonly object[] = [], b: readonly object[] = []): boolean =>
  JSON.stringify(a, (name, value) => (name === 'earlier' || name === 'since' ? undefined : value)) ===
  JSON.stringify(b);

const pick = <E>(entries: Entries<E>, providers: readonly string[]): Entries<E> =>
  Object.fromEntries(providers.flatMap((provider) => (entries[provider] ? [[provider, entries[provider]]] : [])));

const MAX_ROUNDS = 8;

/**
 * A price list with the entries of a newer one. No model loses its price: entries that the newer list lacks stay. Judged by the prices
 * that every known name finds, now, at another time of the day and in the far future, since one entry may take the names of another.
 */
export const mergeList = <E extends { readonly id: string }>(
  { open, namesOf, isTimed, succeed }: ListFormat<E>,
  currentEntries: Entries<E>,
  fetchedEntries: Entries<E>,
  { now, isPlausible, isAllowed, since }: MergeOptions,
): Merged<E> => {
  // Most often one provider changed. One that the newer list lacks stays as it is.
  const changed = Object.keys(fetchedEntries).filter(
    (provider) => !isSameList(currentEntries[provider], fetchedEntries[provider]),
  );
  const current = pick(currentEntries, changed);
  const fetched = pick(fetchedEntries, changed);
  const times = [now, new Date(now.getTime() + 12 * HOUR_MS), FAR_FUTURE];
  const before = open(current);
  const nameList = changed.flatMap((provider) => {
    const entries = [...(current[provider] ?? []), ...(fetched[provider] ?? [])];
    const at = entries.some(isTimed) ? times : [now];
    return [...new Set(entries.flatMap(namesOf))].map((model) => ({ name: { provider, model }, times: at }));
  });

  const build = (waiting: ReadonlyMap<string, PriceChange>): Entries<E> =>
    Object.fromEntries(
      changed.map((provider) => {
        const olds = new Map((current[provider] ?? []).map((entry) => [entry.id, entry]));
        const taken = new Set<string>();
        const news = (fetched[provider] ?? []).flatMap((entry): E[] => {
          if (taken.has(entry.id)) return [];
          taken.add(entry.id);
          const old = olds.get(entry.id);
          if (waiting.has(`${provider}/${entry.id}`)) return old ? [old] : [];
          return [old ? succeed(old, entry, since(provider, entry.id)) : { ...entry, since: now.toISOString() }];
        });
        return [provider, [...news, ...[...olds.values()].filter(({ id }) => !taken.has(id))]];
      }),
    );

  const compare = (candidate: Entries<E>) => {
    const after = open(candidate);
    const changes = new Map<string, Judged>();
    for (const { name, times } of nameList)
      for (const at of times)
        for (const inputTokens of comparedPromptTokens) {
          const query = { ...name, at, inputTokens };
          const old = before(query);
          const found = after(query);
          if (isDeepStrictEqual(old?.rates, found?.rates)) continue;
          const entry = entryOf(found ?? old);
          const key = `${name.provider}/${entry}`;
          const prices = { before: shownPrices(old?.rates), after: shownPrices(found?.rates) };
          const change = { ...name, entry, ...prices, inputTokens, holds: (old ?? found)?.source };
          const large = old ? isLarge(old.rates, found?.rates) : !isPlausible(change);
          const known = changes.get(key);
          if (known?.isLarge || (known && !large)) continue;
          changes.set(key, { change, isLarge: large, keys: [key, `${name.provider}/${entryOf(old)}`] });
        }
    return changes;
  };

  const waiting = new Map<string, PriceChange>();
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const candidate = build(waiting);
    const changes = compare(candidate);
    const tooLarge = [...changes.values()].filter(({ change, isLarge }) => !isAllowed(change, isLarge));
    if (tooLarge.length === 0)
      return {
        entries: { ...currentEntries, ...candidate },
        changes: [...changes.values()].map(({ change }) => change),
        waiting: firstByName(waiting.values()),
        isRefused: false,
      };
    const size = waiting.size;
    for (const { change, keys } of tooLarge) {
      const key = keys.find((each) => !waiting.has(each));
      if (key !== undefined) waiting.set(key, change);
    }
    if (waiting.size === size) break;
  }
  return { entries: currentEntries, changes: [], waiting: firstByName(waiting.values()), isRefused: true };
};

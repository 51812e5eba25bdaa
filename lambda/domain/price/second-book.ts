import { listedRates, type PriceLookup, seenSince, type TokenPriceList } from './rates.ts';

/** Token prices of models.dev, or of a package with them. */
export interface SecondPriceList {
  /** In the `priceSource` of records. */
  readonly name: string;
  readonly prices: TokenPriceList;
}

/** The second source: finds models by their exact id. */
export const openSecondPrices =
  ({ name, prices }: SecondPriceList): PriceLookup =>
  ({ provider, model, at, inputTokens }) => {
    const models = prices[provider];
    const listed = models && Object.hasOwn(models, model) ? models[model] : undefined;
    if (!listed) return null;
    const { earlier = [], since: _since, ...current } = listed;
    const { over200k, tiers, ...base } = earlier.find(({ until }) => at < new Date(until))?.prices ?? current;
    const sized = tiers ?? (over200k ? [{ over: 200_000, ...over200k }] : []);
    const { over: _, ...usd } = { over: 0, ...base, ...sized.findLast(({ over }) => inputTokens > over) };
    // The same rate as the output's must not outlive an override of that.
    const { reasoning, ...others } = usd;
    const rates = listedRates(reasoning === usd.output ? others : usd);
    return { source: `${name}:${provider}/${model}`, match: 'name', rates, since: seenSince(listed, at) };
  };

import { priced } from '../../lambda/domain/hosts.ts';
import { attoUsdPerUnit } from '../../lambda/domain/money.ts';
import { loadBundledBook } from '../../lambda/domain/price/price-book.ts';
import { isSamePrice, type Rates, type TokenKind } from '../../lambda/domain/price/rates.ts';
import { usdPerMtok } from './compare.ts';

/*
 * Compares the price book with any other list: models.dev's, LiteLLM's, or one of the form { provider: { model: { cost } } } as packages of
 * model catalogs have.
 */

const findPrice = await loadBundledBook();

type Json = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Names of a kind of tokens in such lists, each with the tokens that its price is for. */
const names: Readonly<Partial<Record<TokenKind, readonly (readonly [name: string, tokens: number])[]>>> = {
  input: [
    ['input', 1e6],
    ['input_cost_per_token', 1],
  ],
  output: [
    ['output', 1e6],
    ['output_cost_per_token', 1],
  ],
  cacheRead: [
    ['cache_read', 1e6],
    ['cacheRead', 1e6],
    ['cache_read_input_token_cost', 1],
  ],
};

/** A zero next to other prices means that there is no such price. */
const ratesOf = (cost: Json): Rates =>
  Object.fromEntries(
    Object.entries(names).flatMap(([kind, known]) =>
      known.flatMap(([name, tokens]) => {
        const usd = cost[name];
        return typeof usd === 'number' && usd > 0 ? [[kind, attoUsdPerUnit(usd, tokens)]] : [];
      }),
    ),
  );

const letters = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, '');

/** Labels by the names that other lists have of providers, in letters only. */
const labels = new Map([
  ...priced.flatMap(({ label, priceIds }) =>
    [label, priceIds.genaiPrices, priceIds.modelsDev].map((name) => [letters(name), label] as const),
  ),
  ...([
    ['gemini', 'google'],
    ['coherechat', 'cohere'],
  ] as const),
]);

interface Listed {
  readonly provider: string;
  readonly model: string;
  readonly rates: Rates;
}

const listedIn = (list: Json): Listed[] =>
  Object.entries(list).flatMap(([name, entry]): Listed[] => {
    if (!isObject(entry)) return [];
    const { litellm_provider: vendor, models = entry } = entry;
    if (typeof vendor === 'string') {
      const provider = labels.get(letters(vendor));
      const start = `${name.split('/')[0]}/`;
      const model = labels.has(letters(start)) ? name.slice(start.length) : name;
      return provider ? [{ provider, model, rates: ratesOf(entry) }] : [];
    }
    const provider = labels.get(letters(name));
    if (!provider || !isObject(models)) return [];
    return Object.entries(models).flatMap(([model, listed]) => {
      const cost = isObject(listed) ? listed['cost'] : null;
      return isObject(cost) ? [{ provider, model, rates: ratesOf(cost) }] : [];
    });
  });

/** Fireworks' names have a path, and `p` for a point. */
const namesOf = ({ provider, model }: Listed): string[] =>
  provider === 'fireworks'
    ? ['models', 'routers'].map((kind) => `accounts/fireworks/${kind}/${model.replaceAll('.', 'p')}`).concat(model)
    : [model];

const KINDS: readonly TokenKind[] = ['input', 'output', 'cacheRead'];
const shown = (rates: Rates): string => KINDS.map((kind) => usdPerMtok(rates[kind])).join(' / ');

/** Lines about the models that the book lacks, and about those that it has another price for. */
export const compareList = (list: unknown, at: Date): string[] => {
  const listed = (isObject(list) ? listedIn(list) : []).filter(({ rates }) => rates.input !== undefined);
  let equal = 0;
  const lines = listed.flatMap((entry) => {
    const { provider, rates } = entry;
    const [found] = namesOf(entry).flatMap(
      (name) => findPrice({ provider, model: name.toLowerCase(), at, inputTokens: 1_000 }) ?? [],
    );
    if (found && found.match !== 'pattern' && isSamePrice(found.rates, rates, KINDS)) {
      equal += 1;
      return [];
    }
    const ours = found ? `${shown(found.rates)}${found.match === 'pattern' ? ' (by a pattern)' : ''}` : 'none';
    return [`${found ? 'differs' : 'missing'} ${provider} ${entry.model}  ${shown(rates)}, ours ${ours}`];
  });
  return [
    ...lines.sort(),
    `${listed.length} prices: ${equal} equal, ${lines.length} missing or different (input / output / cached input, USD per million tokens).`,
  ];
};

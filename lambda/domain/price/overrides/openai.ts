import type { ProviderOverrides } from './override.ts';

const source = 'https://developers.openai.com/api/docs/pricing';
const evidence = { source, asOf: '2026-02-07' } as const;

export const openai: ProviderOverrides = {
  overrides: [
    { models: ['babbage-002'], usdPerMtok: { input: 0.4, output: 0.4 }, why: 'in neither book', ...evidence },
    { models: ['davinci-002'], usdPerMtok: { input: 2, output: 2 }, why: 'in neither book', ...evidence },
    {
      models: ['gpt-4o-audio-preview*'],
      usdPerMtok: { inputAudio: 40, outputAudio: 80 },
      why: 'genai-prices has the price of its text only',
      ...evidence,
    },
    {
      models: ['gpt-4o-audio-preview-2024-10-01'],
      usdPerMtok: { inputAudio: 100, outputAudio: 200 },
      why: 'the first snapshot kept its price, by two lists kept by others; the price list names it no more',
      source,
      asOf: '2025-11-01',
      isUnverified: true,
    },
    {
      models: ['gpt-4o-mini-audio-preview*'],
      usdPerMtok: { inputAudio: 10, outputAudio: 20 },
      why: 'genai-prices has the price of its text only',
      ...evidence,
    },
    { models: ['tts-1', 'tts-1-1106'], usdEach: { characters: 15e-6 }, why: 'in neither book', ...evidence },
    { models: ['tts-1-hd', 'tts-1-hd-1106'], usdEach: { characters: 30e-6 }, why: 'in neither book', ...evidence },
    {
      models: ['gpt-4o-search-preview*', 'gpt-4o-mini-search-preview*'],
      usdEach: { webSearches: 0.025 },
      why: 'the books lack the fee of the search that every call makes: the preview tool, on a model without reasoning',
      ...evidence,
    },
    {
      models: ['gpt-5-search-api*'],
      usdEach: { webSearches: 0.01 },
      why: 'the books lack the fee of the search that every call makes',
      ...evidence,
    },
    {
      models: ['gpt-6.1-sol', 'gpt-6.1-sol-2026*'],
      usdPerMtok: { input: 2, cacheRead: 0.1, cacheWrite: 2.5, output: 10 },
      why: 'released after both books',
      source: `${source}, as quoted alike in several public repositories`,
      asOf: '2026-10-06',
    },
    {
      models: ['gpt-6.1-sol', 'gpt-6.1-sol-2026*'],
      overTokens: 272_000,
      usdPerMtok: { input: 4, cacheRead: 0.2, cacheWrite: 5, output: 15 },
      why: 'long prompts are dearer, taken to be so by as much as with GPT-6 Sol',
      source,
      asOf: '2026-10-06',
      isUnverified: true,
    },
    {
      models: ['sora-2'],
      usdEach: { videoSeconds: 0.1 },
      why: 'in neither book; shut down on 2026-09-24',
      source: 'https://developers.openai.com/api/docs/models/sora-2',
      asOf: '2026-09-24',
    },
  ],
};

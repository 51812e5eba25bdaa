import type { ProviderOverrides } from './override.ts';

const source = 'https://developers.openai.com/api/docs/pricing';
const evidence = { source, asOf: '2026-02-07' } as const;

const tuned = {
  why: 'fine-tuned models: in neither book, or without the price of what is read from a cache',
  source: `${source}#fine-tuning, as quoted alike by LiteLLM's list and others`,
  asOf: '2026-11-20',
} as const;

export const openai: ProviderOverrides = {
  overrides: [
    { models: ['ft:gpt-4.1-2025-04-14*'], usdPerMtok: { input: 3, cacheRead: 0.75, output: 12 }, ...tuned },
    { models: ['ft:gpt-4.1-mini-2025-04-14*'], usdPerMtok: { input: 0.8, cacheRead: 0.2, output: 3.2 }, ...tuned },
    { models: ['ft:gpt-4.1-nano-2025-04-14*'], usdPerMtok: { input: 0.2, cacheRead: 0.05, output: 0.8 }, ...tuned },
    { models: ['ft:gpt-4o-2024-08-06*'], usdPerMtok: { input: 3.75, cacheRead: 1.875, output: 15 }, ...tuned },
    { models: ['ft:gpt-4o-mini-2024-07-18*'], usdPerMtok: { input: 0.3, cacheRead: 0.15, output: 1.2 }, ...tuned },
    { models: ['ft:o4-mini-2025-04-16*'], usdPerMtok: { input: 4, cacheRead: 1, output: 16 }, ...tuned },
    { models: ['ft:davinci-002*'], usdPerMtok: { input: 12, output: 12 }, ...tuned },
    { models: ['ft:babbage-002*'], usdPerMtok: { input: 1.6, output: 1.6 }, ...tuned },
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
      why: 'the first snapshot kept its price; the price list names it no more',
      source: `${source}, as quoted alike by three lists kept by others`,
      asOf: '2026-11-20',
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
      models: ['gpt-5-search-api*'],
      usdPerMtok: { input: 1.25, cacheRead: 0.125, output: 10 },
      why: 'in neither book',
      source: `${source}, as quoted alike in several public repositories`,
      asOf: '2026-11-21',
    },
    {
      models: ['gpt-6.1-sol'],
      usdPerMtok: { input: 2, cacheRead: 0.1, cacheWrite: 2.5, output: 10 },
      why: 'released after both books',
      source: `${source}, as quoted alike in several public repositories`,
      asOf: '2026-10-06',
    },
    {
      models: ['gpt-6.1-sol'],
      overTokens: 272_000,
      usdPerMtok: { input: 4, cacheRead: 0.2, cacheWrite: 5, output: 15 },
      why: 'long prompts cost more, assumed by the same factor as with GPT-6 Sol',
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

import type { ProviderOverrides } from './override.ts';

const source = 'https://ai.google.dev/gemini-api/docs/pricing';
const evidence = { source, asOf: '2026-11-20' } as const;
const why = 'in neither book';

export const google: ProviderOverrides = {
  overrides: [
    { models: ['imagen-4.0-generate*'], usdEach: { images: 0.04 }, why, ...evidence },
    { models: ['imagen-4.0-ultra-generate*'], usdEach: { images: 0.06 }, why, ...evidence },
    { models: ['imagen-4.0-fast-generate*'], usdEach: { images: 0.02 }, why, ...evidence },
    { models: ['imagen-3.0-generate*'], usdEach: { images: 0.03 }, why, ...evidence },
    {
      models: ['gemini-1.5-flash-8b*'],
      usdPerMtok: { input: 0.0375, cacheRead: 0.01, output: 0.15 },
      why: 'genai-prices takes it for Gemini 1.5 Flash, at twice the price; shut down in September 2025',
      source: `${source}, as quoted alike in several public repositories`,
      asOf: '2026-11-20',
    },
    {
      models: ['gemini-1.5-flash-8b*'],
      overTokens: 128_000,
      usdPerMtok: { input: 0.075, cacheRead: 0.02, output: 0.3 },
      why: 'genai-prices takes it for Gemini 1.5 Flash, at twice the price; shut down in September 2025',
      source,
      asOf: '2025-09-01',
      isUnverified: true,
    },
  ],
  bookChoices: [
    {
      models: ['gemini-2.5-flash-image'],
      book: 'genai-prices',
      why: 'the price list has no cached input for it',
      source,
      asOf: '2025-11-01',
      isUnverified: true,
    },
  ],
};

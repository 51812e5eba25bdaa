/** Tokens of a made-up call. Cached ones are part of the input, hidden ones part of the output. */
export interface Tokens {
  readonly input: number;
  readonly cached: number;
  readonly output: number;
  readonly reasoning: number;
}

type Shape = (tokens: Tokens) => Record<string, unknown>;

const openAi: Shape = ({ input, cached, output, reasoning }) => ({
  prompt_tokens: input,
  completion_tokens: output,
  total_tokens: input + output,
  prompt_tokens_details: { cached_tokens: cached },
  completion_tokens_details: { reasoning_tokens: reasoning },
});

/** Usage in each provider's own words, so that it is read and priced by the code that reads theirs. */
export const usageShapes = {
  openAi,
  embedding: ({ input }) => ({ prompt_tokens: input, total_tokens: input }),
  anthropic: ({ input, cached, output }) => ({
    input_tokens: input - cached,
    cache_read_input_tokens: cached,
    cache_creation_input_tokens: 0,
    output_tokens: output,
    service_tier: 'standard',
  }),
  gemini: ({ input, cached, output, reasoning }) => ({
    promptTokenCount: input,
    cachedContentTokenCount: cached,
    candidatesTokenCount: output - reasoning,
    thoughtsTokenCount: reasoning,
    totalTokenCount: input + output,
  }),
  rerank: () => ({ billed_units: { search_units: 1 } }),
  /** These name the cost themselves; the rates are what they charge about. */
  perplexity: (tokens) => ({
    ...openAi(tokens),
    search_context_size: 'medium',
    cost: { total_cost: (tokens.input * 3 + tokens.output * 15) / 1e6 + 0.01 },
  }),
  xai: (tokens) => ({
    ...openAi(tokens),
    cost_in_usd_ticks: Math.round((tokens.input * 3 + tokens.output * 15) * 1e4),
  }),
  openRouter: (tokens) => ({ ...openAi(tokens), cost: (tokens.input * 0.6 + tokens.output * 2.2) / 1e6 }),
} as const satisfies Record<string, Shape>;

export type UsageShape = keyof typeof usageShapes;

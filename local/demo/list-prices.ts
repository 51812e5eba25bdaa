/**
 * List prices in USD per million tokens, typed off the providers' price pages for the demo alone (2026-11): the demo's
 * expectation must not come from the price book it checks.
 */
const listPrices: Readonly<Record<string, { readonly input: number; readonly output: number }>> = {
  'gpt-4o-mini': { input: 0.15, output: 0.6 },
  'gpt-4.1': { input: 2, output: 8 },
  'gpt-4.1-mini': { input: 0.4, output: 1.6 },
  'claude-sonnet-4-6': { input: 3, output: 15 },
  'claude-haiku-4-5': { input: 1, output: 5 },
  'gemini-2.5-flash': { input: 0.3, output: 2.5 },
  'gemini-2.5-pro': { input: 1.25, output: 10 },
  'llama-3.3-70b-versatile': { input: 0.59, output: 0.79 },
};

/** A dollar per million tokens is a thousand nano-dollars per token. */
const NANO_PER_TOKEN = 1_000;

/** @returns nano-USD; undefined for a model whose price nobody publishes */
export const listPriceNanoUsd = (model: string, inputTokens: number, outputTokens: number): number | undefined => {
  const price = listPrices[model];
  return price && Math.round((inputTokens * price.input + outputTokens * price.output) * NANO_PER_TOKEN);
};

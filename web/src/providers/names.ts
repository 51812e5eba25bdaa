import type { ProviderLabel } from '../../../lambda/domain/providers.ts';

const names: Readonly<Record<ProviderLabel, string>> = {
  openai: 'OpenAI',
  anthropic: 'Anthropic',
  google: 'Google Gemini',
  mistral: 'Mistral',
  cohere: 'Cohere',
  groq: 'Groq',
  together: 'Together AI',
  fireworks: 'Fireworks',
  deepseek: 'DeepSeek',
  xai: 'xAI',
  perplexity: 'Perplexity',
  openrouter: 'OpenRouter',
};

/** As the provider writes it; a label that is new here stays as it is. */
export const providerName = (label: string): string => (names as Readonly<Record<string, string>>)[label] ?? label;

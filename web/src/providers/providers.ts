import type { ProviderLabel } from '../../../lambda/domain/providers.ts';
import { anthropic } from './sdks/anthropic.ts';
import { cohere } from './sdks/cohere.ts';
import { bearer, curlLike } from './sdks/curl.ts';
import { google } from './sdks/google.ts';
import { mistral } from './sdks/mistral.ts';
import { nodeLike, openAi, pythonLike } from './sdks/openai-like.ts';
import type { Sdk } from './sdks/sdk.ts';

interface ProviderRow {
  /** The name as the provider writes it. */
  readonly name: string;
  /**
   * The provider's own SDK. Where there is none, or one that does not use HTTP (xAI's), the OpenAI SDK, as the provider's
   * documentation does.
   */
  readonly sdk: Sdk;
}

/** Everything the pages know of a provider. A new provider is a new row. */
export const providers: Readonly<Record<ProviderLabel, ProviderRow>> = {
  openai: { name: 'OpenAI', sdk: openAi('/v1', 'OPENAI_API_KEY', 'gpt-4o-mini') },
  anthropic: { name: 'Anthropic', sdk: anthropic },
  google: { name: 'Google Gemini', sdk: google },
  mistral: { name: 'Mistral', sdk: mistral },
  cohere: { name: 'Cohere', sdk: cohere },
  groq: {
    name: 'Groq',
    sdk: {
      path: '',
      environment: 'GROQ_API_KEY',
      model: 'llama-3.3-70b-versatile',
      python: pythonLike('groq', 'Groq'),
      node: nodeLike('groq-sdk', 'Groq'),
      curl: curlLike('/openai/v1/chat/completions', bearer),
    },
  },
  together: {
    name: 'Together AI',
    sdk: {
      path: '/v1',
      environment: 'TOGETHER_API_KEY',
      model: 'meta-llama/Llama-3.3-70B-Instruct-Turbo',
      python: pythonLike('together', 'Together'),
      node: nodeLike('together-ai', 'Together'),
      curl: curlLike('/v1/chat/completions', bearer),
    },
  },
  fireworks: {
    name: 'Fireworks',
    sdk: openAi('/inference/v1', 'FIREWORKS_API_KEY', 'accounts/fireworks/models/llama-v3p3-70b-instruct'),
  },
  deepseek: { name: 'DeepSeek', sdk: openAi('', 'DEEPSEEK_API_KEY', 'deepseek-chat') },
  xai: { name: 'xAI', sdk: openAi('/v1', 'XAI_API_KEY', 'grok-4') },
  perplexity: { name: 'Perplexity', sdk: openAi('', 'PERPLEXITY_API_KEY', 'sonar') },
  openrouter: { name: 'OpenRouter', sdk: openAi('/api/v1', 'OPENROUTER_API_KEY', 'openai/gpt-4o-mini') },
};

/** The provider's name; a label that these pages do not know yet is its own name. */
export const providerName = (label: string): string =>
  Object.hasOwn(providers, label) ? providers[label as ProviderLabel].name : label;

/** The providers as a select shows them. */
export const providerChoices = (Object.keys(providers) as ProviderLabel[]).map((value) => ({
  value,
  label: providers[value].name,
}));

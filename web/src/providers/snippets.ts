import type { ProviderLabel } from '../../../lambda/domain/providers.ts';
import { anthropic } from './sdks/anthropic.ts';
import { cohere } from './sdks/cohere.ts';
import { bearer, curlLike } from './sdks/curl.ts';
import { google } from './sdks/google.ts';
import { mistral } from './sdks/mistral.ts';
import { nodeLike, openAi, pythonLike } from './sdks/openai-like.ts';
import type { Access, Sdk } from './sdks/sdk.ts';

export const languages = ['python', 'node', 'curl'] as const;
export type Language = (typeof languages)[number];

export const languageNames: Readonly<Record<Language, string>> = { python: 'Python', node: 'Node.js', curl: 'curl' };

export interface SnippetLine {
  readonly text: string;
  /** True where calling the provider directly does not have this line. */
  readonly isNew: boolean;
}

/** Marks the new lines in an SDK's code. */
const NEW = '+ ';

/**
 * Each provider's own SDK. Where there is none, or one that does not use HTTP (xAI's), the OpenAI SDK, as the provider's
 * documentation does.
 */
const sdks: Readonly<Record<ProviderLabel, Sdk>> = {
  openai: openAi('/v1', 'OPENAI_API_KEY', 'gpt-4o-mini'),
  anthropic,
  google,
  mistral,
  cohere,
  groq: {
    path: '',
    environment: 'GROQ_API_KEY',
    model: 'llama-3.3-70b-versatile',
    python: pythonLike('groq', 'Groq'),
    node: nodeLike('groq-sdk', 'Groq'),
    curl: curlLike('/openai/v1/chat/completions', bearer),
  },
  together: {
    path: '/v1',
    environment: 'TOGETHER_API_KEY',
    model: 'meta-llama/Llama-3.3-70B-Instruct-Turbo',
    python: pythonLike('together', 'Together'),
    node: nodeLike('together-ai', 'Together'),
    curl: curlLike('/v1/chat/completions', bearer),
  },
  fireworks: openAi('/inference/v1', 'FIREWORKS_API_KEY', 'accounts/fireworks/models/llama-v3p3-70b-instruct'),
  deepseek: openAi('', 'DEEPSEEK_API_KEY', 'deepseek-chat'),
  xai: openAi('/v1', 'XAI_API_KEY', 'grok-4'),
  perplexity: openAi('', 'PERPLEXITY_API_KEY', 'sonar'),
  openrouter: openAi('/api/v1', 'OPENROUTER_API_KEY', 'openai/gpt-4o-mini'),
};

/** A call through the gateway, line by line; new lines are marked. */
export const snippet = (provider: ProviderLabel, language: Language, access: Access): readonly SnippetLine[] => {
  const { path, environment, model, ...write } = sdks[provider];
  const code = write[language]({ ...access, base: `${access.url}${path}`, environment, model });
  return code
    .trim()
    .split('\n')
    .filter((line) => !(access.anyCredential && line === 'import os'))
    .map((line) =>
      line.startsWith(NEW) ? { text: line.slice(NEW.length), isNew: true } : { text: line, isNew: false },
    );
};

import type { ProviderLabel } from '../../providers.ts';
import { anthropic } from './anthropic.ts';
import { cohere } from './cohere.ts';
import { deepseek } from './deepseek.ts';
import { fireworks } from './fireworks.ts';
import { google } from './google.ts';
import { groq } from './groq.ts';
import { mistral } from './mistral.ts';
import { openai } from './openai.ts';
import { openrouter } from './openrouter.ts';
import type { ProviderOverrides } from './override.ts';
import { perplexity } from './perplexity.ts';
import { together } from './together.ts';
import { xai } from './xai.ts';

const byLabel = {
  openai,
  anthropic,
  google,
  mistral,
  cohere,
  groq,
  together,
  fireworks,
  deepseek,
  xai,
  perplexity,
  openrouter,
} satisfies Partial<Record<ProviderLabel, ProviderOverrides>>;

/** By gateway label. A provider whose prices the books have right needs none. */
export const providerOverrides: Readonly<Record<string, ProviderOverrides>> = byLabel;

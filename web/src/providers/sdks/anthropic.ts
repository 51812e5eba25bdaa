import { curlLike } from './curl.ts';
import { nodeLike, pythonLike } from './openai-like.ts';
import { PROMPT, type Sdk, shellKey } from './sdk.ts';

export const anthropic: Sdk = {
  path: '',
  environment: 'ANTHROPIC_API_KEY',
  model: 'claude-haiku-4-5',
  python: pythonLike('anthropic', 'Anthropic'),
  node: nodeLike('@anthropic-ai/sdk', 'Anthropic'),
  curl: curlLike(
    '/v1/messages',
    (client) => `x-api-key: ${shellKey(client)}" \\\n  -H "anthropic-version: 2023-06-01`,
    ({ model }) => JSON.stringify({ model, max_tokens: 100, messages: [{ role: 'user', content: PROMPT }] }),
  ),
};

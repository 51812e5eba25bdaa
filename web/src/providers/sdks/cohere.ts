import { bearer, curlLike } from './curl.ts';
import { HEADER, nodeKey, PROMPT, pythonKey, type Sdk } from './sdk.ts';

export const cohere: Sdk = {
  path: '',
  environment: 'CO_API_KEY',
  model: 'command-a-03-2025',
  python: (client) => `
import os
import cohere
import httpx

client = cohere.ClientV2(
    api_key=${pythonKey(client)},
+     base_url="${client.base}",
+     httpx_client=httpx.Client(headers={"${HEADER}": "${client.serviceKey}"}),
)
client.chat(
    model="${client.model}",
    messages=[{"role": "user", "content": "${PROMPT}"}],
)`,
  node: (client) => `
import { CohereClientV2 } from 'cohere-ai';

const client = new CohereClientV2({
  token: ${nodeKey(client)},
+   environment: '${client.base}',
+   headers: { '${HEADER}': '${client.serviceKey}' },
});
await client.chat({
  model: '${client.model}',
  messages: [{ role: 'user', content: '${PROMPT}' }],
});`,
  curl: curlLike('/v2/chat', bearer),
};

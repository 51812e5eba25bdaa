import { bearer, curlLike } from './curl.ts';
import { HEADER, nodeKey, PROMPT, pythonKey, type Sdk } from './sdk.ts';

export const mistral: Sdk = {
  path: '',
  environment: 'MISTRAL_API_KEY',
  model: 'mistral-small-latest',
  python: (client) => `
import os
import httpx
from mistralai.client import Mistral

client = Mistral(
    api_key=${pythonKey(client)},
+     server_url="${client.base}",
+     client=httpx.Client(headers={"${HEADER}": "${client.serviceKey}"}),
)
client.chat.complete(
    model="${client.model}",
    messages=[{"role": "user", "content": "${PROMPT}"}],
)`,
  node: (client) => `
import { Mistral } from '@mistralai/mistralai';
import { HTTPClient } from '@mistralai/mistralai/lib/http';

+ const httpClient = new HTTPClient();
+ httpClient.addHook('beforeRequest', (request) => {
+   request.headers.set('${HEADER}', '${client.serviceKey}');
+ });
const client = new Mistral({
  apiKey: ${nodeKey(client)},
+   serverURL: '${client.base}',
+   httpClient,
});
await client.chat.complete({
  model: '${client.model}',
  messages: [{ role: 'user', content: '${PROMPT}' }],
});`,
  curl: curlLike('/v1/chat/completions', bearer),
};

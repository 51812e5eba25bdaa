import { curlLike } from './curl.ts';
import { HEADER, nodeKey, PROMPT, pythonKey, type Sdk, shellKey } from './sdk.ts';

export const google: Sdk = {
  path: '',
  environment: 'GEMINI_API_KEY',
  model: 'gemini-2.5-flash',
  python: (client) => `
import os
from google import genai
from google.genai import types

client = genai.Client(
    api_key=${pythonKey(client)},
+     http_options=types.HttpOptions(
+         base_url="${client.base}",
+         headers={"${HEADER}": "${client.serviceKey}"},
+     ),
)
client.models.generate_content(model="${client.model}", contents="${PROMPT}")`,
  node: (client) => `
import { GoogleGenAI } from '@google/genai';

const client = new GoogleGenAI({
  apiKey: ${nodeKey(client)},
+   httpOptions: {
+     baseUrl: '${client.base}',
+     headers: { '${HEADER}': '${client.serviceKey}' },
+   },
});
await client.models.generateContent({ model: '${client.model}', contents: '${PROMPT}' });`,
  curl: (client) =>
    curlLike(
      `/v1beta/models/${client.model}:generateContent`,
      () => `x-goog-api-key: ${shellKey(client)}`,
      () => JSON.stringify({ contents: [{ parts: [{ text: PROMPT }] }] }),
    )(client),
};

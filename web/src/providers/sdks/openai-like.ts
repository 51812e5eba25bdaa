import { bearer, curlLike } from './curl.ts';
import { type Client, HEADER, nodeKey, PROMPT, pythonKey, type Sdk } from './sdk.ts';

/** SDKs with OpenAI's options: a base URL and default headers. */
export const pythonLike = (module: string, name: string) => (client: Client) =>
  `
import os
from ${module} import ${name}

client = ${name}(
    api_key=${pythonKey(client)},
+     base_url="${client.base}",
+     default_headers={"${HEADER}": "${client.serviceKey}"},
)
${pythonCall(client, name)}`;

const pythonCall = ({ model }: Client, name: string) =>
  name === 'Anthropic'
    ? `client.messages.create(
    model="${model}",
    max_tokens=100,
    messages=[{"role": "user", "content": "${PROMPT}"}],
)`
    : `client.chat.completions.create(
    model="${model}",
    messages=[{"role": "user", "content": "${PROMPT}"}],
)`;

export const nodeLike = (module: string, name: string) => (client: Client) =>
  `
import ${name} from '${module}';

const client = new ${name}({
  apiKey: ${nodeKey(client)},
+   baseURL: '${client.base}',
+   defaultHeaders: { '${HEADER}': '${client.serviceKey}' },
});
${nodeCall(client, name)}`;

const nodeCall = ({ model }: Client, name: string) =>
  name === 'Anthropic'
    ? `await client.messages.create({
  model: '${model}',
  max_tokens: 100,
  messages: [{ role: 'user', content: '${PROMPT}' }],
});`
    : `await client.chat.completions.create({
  model: '${model}',
  messages: [{ role: 'user', content: '${PROMPT}' }],
});`;

export const openAi = (path: string, environment: string, model: string): Sdk => ({
  path,
  environment,
  model,
  python: pythonLike('openai', 'OpenAI'),
  node: nodeLike('openai', 'OpenAI'),
  curl: curlLike(`${path}/chat/completions`, bearer),
});

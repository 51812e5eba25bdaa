import {
  type CodingToolId,
  codingTools,
  contentText,
  type SetUp,
  shellLines,
  type ToolAccess,
} from '../../../lambda/domain/coding-tools.ts';
import type { ProviderLabel } from '../../../lambda/domain/providers.ts';

/** Stands in snippets where no key is known. */
export const PLACEHOLDER = 'YOUR_SERVICE_KEY';

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

interface Access {
  /** The provider's gateway URL, without a trailing slash. */
  readonly url: string;
  readonly serviceKey: string;
  /** True where any provider credential works (mock providers); otherwise the code reads it from the environment. */
  readonly anyCredential: boolean;
}

/** How to call one provider. Lines that begin with `+ ` are those that a direct call to the provider does not have. */
interface Sdk {
  /** Appended to the gateway URL. */
  readonly path: string;
  readonly environment: string;
  readonly model: string;
  readonly python: (access: Client) => string;
  readonly node: (access: Client) => string;
  readonly curl: (access: Client) => string;
}

interface Client extends Access {
  readonly base: string;
  readonly environment: string;
  readonly model: string;
}

const HEADER = 'X-Service-Key';
const PROMPT = 'Say hello.';

const pythonKey = ({ anyCredential, environment }: Client) =>
  anyCredential ? '"any"' : `os.environ["${environment}"]`;
const nodeKey = ({ anyCredential, environment }: Client) => (anyCredential ? "'any'" : `process.env.${environment}`);
const shellKey = ({ anyCredential, environment }: Client) => (anyCredential ? 'any' : `$${environment}`);

const chatBody = ({ model }: Client) => JSON.stringify({ model, messages: [{ role: 'user', content: PROMPT }] });

const curlLike =
  (path: string, credential: (client: Client) => string, body: (client: Client) => string = chatBody) =>
  (client: Client) =>
    `
+ curl ${client.url}${path} \\
+   -H '${HEADER}: ${client.serviceKey}' \\
  -H "${credential(client)}" \\
  -H 'Content-Type: application/json' \\
  -d '${body(client)}'`;

const bearer = (client: Client) => `Authorization: Bearer ${shellKey(client)}`;

/** SDKs with OpenAI's options: a base URL and default headers. */
const pythonLike = (module: string, name: string) => (client: Client) =>
  `
import os
from ${module} import ${name}

client = ${name}(
    api_key=${pythonKey(client)},
+     base_url="${client.base}",
+     default_headers={"${HEADER}": "${client.serviceKey}"},
)
${pythonCall(client, name)}`;

const callOf = (name: string) => (name === 'Anthropic' ? 'messages' : 'chat.completions');

const pythonCall = ({ model }: Client, name: string) => `client.${callOf(name)}.create(
    model="${model}",${name === 'Anthropic' ? '\n    max_tokens=100,' : ''}
    messages=[{"role": "user", "content": "${PROMPT}"}],
)`;

const nodeLike = (module: string, name: string) => (client: Client) =>
  `
import ${name} from '${module}';

const client = new ${name}({
  apiKey: ${nodeKey(client)},
+   baseURL: '${client.base}',
+   defaultHeaders: { '${HEADER}': '${client.serviceKey}' },
});
${nodeCall(client, name)}`;

const nodeCall = ({ model }: Client, name: string) => `await client.${callOf(name)}.create({
  model: '${model}',${name === 'Anthropic' ? '\n  max_tokens: 100,' : ''}
  messages: [{ role: 'user', content: '${PROMPT}' }],
});`;

/** @param own what differs where the provider has an SDK of its own */
const openAi = (path: string, environment: string, model: string, own: Partial<Sdk> = {}): Sdk => ({
  path,
  environment,
  model,
  python: pythonLike('openai', 'OpenAI'),
  node: nodeLike('openai', 'OpenAI'),
  curl: curlLike(`${path}/chat/completions`, bearer),
  ...own,
});

const anthropic: Sdk = {
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

const cohere: Sdk = {
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

const google: Sdk = {
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

const mistral: Sdk = {
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
  groq: openAi('', 'GROQ_API_KEY', 'llama-3.3-70b-versatile', {
    python: pythonLike('groq', 'Groq'),
    node: nodeLike('groq-sdk', 'Groq'),
    curl: curlLike('/openai/v1/chat/completions', bearer),
  }),
  together: openAi('/v1', 'TOGETHER_API_KEY', 'meta-llama/Llama-3.3-70B-Instruct-Turbo', {
    python: pythonLike('together', 'Together'),
    node: nodeLike('together-ai', 'Together'),
  }),
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

/** A file below the home folder, lines for a shell, or a setting, that point a coding tool at the gateway. */
export interface ToolText {
  readonly title: string;
  readonly text: string;
}

/** Everything that the set-up of a coding tool needs: each file as if it had nothing else in it. */
export const toolTexts = (tool: CodingToolId, access: ToolAccess): readonly ToolText[] => {
  const setUp: SetUp = codingTools[tool].setUp(access);
  const shell = shellLines(setUp);
  return [
    ...(setUp.files ?? []).map(({ path, content }) => ({ title: `~/${path}`, text: contentText(content) })),
    ...(shell.length > 0 ? [{ title: 'Shell', text: shell.join('\n') }] : []),
    ...Object.entries(setUp.settings ?? {}).map(([title, text]) => ({ title, text })),
  ];
};

import { join } from 'node:path';
import { type Client, PROMPT } from './client.ts';

/** SDKs: a script each in sdk/, run next to the SDK's packages. */

/** All in one folder. */
const packages = {
  openai: '7.57.0',
  '@anthropic-ai/sdk': '1.14.0',
  '@google/genai': '3.3.0',
  ai: '7.0.173',
  '@ai-sdk/openai': '4.0.118',
  '@ai-sdk/anthropic': '4.0.105',
  '@ai-sdk/google': '4.0.121',
  '@langchain/core': '1.4.0',
  '@langchain/openai': '1.6.0',
  '@langchain/anthropic': '1.5.11',
  llamaindex: '0.12.1',
  '@llamaindex/openai': '0.4.23',
  '@openai/agents': '0.20.0',
  'groq-sdk': '1.6.0',
  '@mistralai/mistralai': '2.7.0',
  'cohere-ai': '8.1.0',
  'together-ai': '0.52.0',
  bun: '1.4.5',
  deno: '2.9.6',
};

/** @param run the program that runs the script; default Node.js */
const script = (name: string, file: string, run: readonly string[] = []): Client => ({
  name,
  attaches: 'header',
  folder: 'sdks',
  packages,
  run: (target) => ({
    command: run[0] ? join(target.packagesDir, 'node_modules/.bin', run[0]) : process.execPath,
    args: [...run.slice(1), join(target.packagesDir, file)],
    env: variablesOf(target),
  }),
});

const python = (name: string, file: string): Client => ({
  name,
  attaches: 'header',
  run: (target) => ({
    command: 'python3',
    args: [join(import.meta.dirname, 'sdk', file)],
    env: variablesOf(target),
  }),
});

/** What the scripts read: a base URL for each label they use, the service key, the prompt. */
const variablesOf = ({ base, serviceKey }: Parameters<Client['run']>[0]): Record<string, string> => ({
  ...Object.fromEntries(
    ['openai', 'anthropic', 'google', 'groq', 'mistral', 'cohere', 'together'].map((label) => [
      `BASE_${label.toUpperCase()}`,
      base(label),
    ]),
  ),
  SERVICE_KEY: serviceKey,
  PROMPT,
});

export const sdkClients: readonly Client[] = [
  script('openai', 'openai.mjs'),
  script('openai on Bun', 'openai.mjs', ['bun']),
  script('openai on Deno', 'openai.mjs', ['deno', 'run', '--allow-all', '--no-remote']),
  script('@openai/agents', 'agents.mjs'),
  script('@anthropic-ai/sdk', 'anthropic.mjs'),
  script('@google/genai', 'google.mjs'),
  script('ai and @ai-sdk/*', 'ai-sdk.mjs'),
  script('LangChain', 'langchain.mjs'),
  script('LlamaIndex', 'llamaindex.mjs'),
  script('groq-sdk', 'groq.mjs'),
  script('@mistralai/mistralai', 'mistral.mjs'),
  script('cohere-ai', 'cohere.mjs'),
  script('together-ai', 'together.mjs'),
  { ...python('Python http.client', 'http_client.py'), isRecognizable: false },
  python('Python requests', 'with_requests.py'),
];

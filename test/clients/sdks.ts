import { join } from 'node:path';
import { type Client, PROMPT } from './client.ts';

/** SDKs: a script each in sdk/, run next to the SDK's packages. */

/** All in one folder. */
const packages = {
  openai: '7.59.0',
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

const frameworks = {
  '@mastra/core': '1.71.0',
  zod: '4.6.7',
  genkit: '1.42.0',
  '@genkit-ai/compat-oai': '1.42.0',
  '@genkit-ai/google-genai': '1.42.0',
};

const clouds = {
  '@aws-sdk/client-bedrock-runtime': '3.1164.0',
  '@anthropic-ai/vertex-sdk': '1.1.3',
  '@anthropic-ai/sdk': '1.14.0',
  '@google/genai': '3.3.0',
};

/** The newest that an index without the latest releases has, too. */
const pythonPackages = { openai: '3.22.1', anthropic: '1.13.0', 'google-genai': '2.25.0' };

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

const python = (name: string, file: string, more: Partial<Client> = {}): Client => ({
  name,
  attaches: 'header',
  ...more,
  run: (target) => ({
    command: more.pythonPackages ? join(target.packagesDir, 'bin/python') : 'python3',
    args: [join(import.meta.dirname, 'sdk', file)],
    env: variablesOf(target),
  }),
});

/** What the scripts read: a base URL for each label they use, the service key, the prompt. */
const variablesOf = ({ base, serviceKey }: Parameters<Client['run']>[0]): Record<string, string> => ({
  ...Object.fromEntries(
    ['openai', 'anthropic', 'google', 'groq', 'mistral', 'cohere', 'together', 'bedrock', 'vertex'].map((label) => [
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
  { ...script('@mastra/core', 'mastra.mjs'), folder: 'frameworks', packages: frameworks },
  { ...script('genkit', 'genkit.mjs'), folder: 'frameworks', packages: frameworks },
  { ...script('@aws-sdk/client-bedrock-runtime', 'bedrock.mjs'), folder: 'clouds', packages: clouds },
  { ...script('@google/genai on Vertex AI', 'vertex.mjs'), folder: 'clouds', packages: clouds },
  { ...script('@anthropic-ai/vertex-sdk', 'anthropic-vertex.mjs'), folder: 'clouds', packages: clouds },
  python('Python http.client', 'http_client.py', { isRecognizable: false }),
  python('Python requests', 'with_requests.py'),
  python('Python openai', 'with_openai.py', { folder: 'python', pythonPackages }),
  python('Python anthropic', 'with_anthropic.py', { folder: 'python', pythonPackages }),
  python('Python google-genai', 'with_google.py', { folder: 'python', pythonPackages }),
];

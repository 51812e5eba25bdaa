import { claudeCodeSession, codexSession, mastraSession, opencodeSession, type ReadSession } from './session.ts';

interface ClientRow {
  /** The dimension's value. A name in use stays. */
  readonly name: string;
  /** Matches its User-Agent. */
  readonly userAgent: RegExp;
  /** A header that only this client sends, and its value, if its User-Agent is that of a library. */
  readonly mark?: readonly [header: string, value: RegExp];
  readonly session?: ReadSession;
}

/**
 * The programs that the gateway recognises by their User-Agent. The first row that matches counts: agents, then frameworks, then the SDKs
 * that both are built on, then HTTP libraries. A version is no part of a name, and a program without a row has none, so the dimension stays
 * small. `npm run clients` shows what clients send; what it does not run is from their sources.
 */
export const clients: readonly ClientRow[] = [
  // Agents.
  { name: 'claude-code', userAgent: /^claude-(?:cli|code)\//i, session: claudeCodeSession },
  { name: 'codex', userAgent: /^codex[_-]/i, session: codexSession },
  // A fork of opencode.
  {
    name: 'kilo-code',
    userAgent: /^(?:opencode|Kilo-?Code)\//i,
    mark: ['x-title', /^Kilo Code$/],
    session: opencodeSession,
  },
  { name: 'opencode', userAgent: /^opencode2?\//i, session: opencodeSession },
  { name: 'copilot-cli', userAgent: /^(?:OpenAI|Anthropic)\/JS/i, mark: ['x-interaction-type', /^conversation-/] },
  { name: 'gemini-cli', userAgent: /^GeminiCLI/i },
  { name: 'qwen-code', userAgent: /^QwenCode\//i },
  { name: 'roo-code', userAgent: /^Roo-?Code\//i },
  { name: 'droid', userAgent: /^factory-cli\//i },
  { name: 'crush', userAgent: /^Charm-Crush\//i },
  { name: 'mistral-vibe', userAgent: /^(?:mistral-client-python\/)?Mistral-Vibe\//i },
  { name: 'zed', userAgent: /^Zed\//i },
  // Frameworks.
  { name: 'langchain', userAgent: /^langchain/i },
  { name: 'litellm', userAgent: /^litellm\//i },
  { name: 'pydantic-ai', userAgent: /^pydantic-ai\//i },
  { name: 'openai-agents', userAgent: /^Agents\/(?:JavaScript|Python)/i },
  { name: 'mastra', userAgent: /^mastra\//i, session: mastraSession },
  // `ai-sdk/openai/3`, from version 7 on `ai-sdk-openai/4`. Mastra shows as this where its model has a URL of its own.
  { name: 'vercel-ai-sdk', userAgent: /(?:^| )(?:ai\/|ai-sdk[-/])/i, session: mastraSession },
  // Its plugin for Gemini; those for OpenAI and Anthropic show as their SDKs.
  { name: 'genkit', userAgent: /^(?:node|bun|deno)\b/i, mark: ['x-goog-api-client', /^genkit-node\//] },
  // SDKs.
  { name: 'openai-python', userAgent: /^(?:Async)?(?:Azure)?OpenAI\/Python/i },
  { name: 'openai-js', userAgent: /^(?:Azure)?OpenAI\/JS/i },
  { name: 'openai-go', userAgent: /^OpenAI\/Go/i },
  { name: 'openai-java', userAgent: /^OpenAI(?:Client(?:Async)?Impl)?\/Java/i },
  { name: 'openai-ruby', userAgent: /^OpenAI::Client\/Ruby/i },
  { name: 'openai-dotnet', userAgent: /^OpenAI\/\d.*\(\.NET /i },
  { name: 'anthropic-python', userAgent: /^(?:Async)?Anthropic(?:Bedrock|Vertex)?\/Python/i },
  { name: 'anthropic-js', userAgent: /^Anthropic(?:Bedrock|Vertex)?\/JS/i },
  { name: 'anthropic-go', userAgent: /^Anthropic\/Go/i },
  { name: 'anthropic-java', userAgent: /^AnthropicClient(?:Async)?Impl\/Java/i },
  { name: 'anthropic-ruby', userAgent: /^Anthropic::Client\/Ruby/i },
  { name: 'anthropic-dotnet', userAgent: /^AnthropicClient\/C#/i },
  { name: 'google-genai-python', userAgent: /^google-genai-sdk\/.*gl-python/i },
  { name: 'google-genai-js', userAgent: /^google-genai-sdk\/.*gl-node/i },
  { name: 'google-genai-go', userAgent: /^google-genai-sdk\/.*gl-go/i },
  ...['Groq', 'Together', 'Perplexity'].flatMap((name) => [
    { name: `${name.toLowerCase()}-python`, userAgent: new RegExp(`^(?:Async)?${name}/Python`, 'i') },
    { name: `${name.toLowerCase()}-js`, userAgent: new RegExp(`^${name}/JS`, 'i') },
  ]),
  { name: 'openrouter-js', userAgent: /^speakeasy-sdk\/typescript .*@openrouter\/sdk/i },
  { name: 'mistral-python', userAgent: /^mistral-client-python\//i },
  { name: 'mistral-js', userAgent: /^mistral-client-typescript\//i },
  { name: 'cohere-js', userAgent: /^cohere-ai\//i },
  { name: 'cohere-python', userAgent: /^cohere\//i },
  { name: 'aws-sdk-js', userAgent: /^aws-sdk-js\//i },
  { name: 'boto3', userAgent: /^Boto3\//i },
  // HTTP libraries and tools.
  { name: 'curl', userAgent: /^curl\//i },
  { name: 'python-requests', userAgent: /^python-requests\//i },
  { name: 'python-httpx', userAgent: /^python-httpx\//i },
  { name: 'python-aiohttp', userAgent: /aiohttp\//i },
  { name: 'python-urllib', userAgent: /^python-urllib/i },
  { name: 'go-http-client', userAgent: /^go-http-client\//i },
  { name: 'axios', userAgent: /^axios\//i },
  { name: 'node-fetch', userAgent: /^(?:node|undici|node-fetch)(?:\/|$)/i },
];

/** A process sees few User-Agents. One that makes them up must not fill its memory. */
const MAX_RECOGNIZED = 1_000;
/** The rows that match a User-Agent, until the first that it alone decides. */
const recognized = new Map<string, readonly ClientRow[]>();

const rowsOf = (userAgent: string): readonly ClientRow[] => {
  const matching = clients.filter((row) => row.userAgent.test(userAgent));
  const decided = matching.findIndex(({ mark }) => mark === undefined);
  return decided === -1 ? matching : matching.slice(0, decided + 1);
};

/** The row of the client that sent these headers; undefined where the table has none. */
export const recognizeClient = (headers: ReadonlyMap<string, string>): ClientRow | undefined => {
  const userAgent = headers.get('user-agent');
  if (userAgent === undefined) return undefined;
  let rows = recognized.get(userAgent);
  if (rows === undefined) {
    rows = rowsOf(userAgent);
    if (recognized.size === MAX_RECOGNIZED) recognized.clear();
    recognized.set(userAgent, rows);
  }
  return rows.find(({ mark }) => mark === undefined || mark[1].test(headers.get(mark[0]) ?? ''));
};

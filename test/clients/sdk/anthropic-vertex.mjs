import { AnthropicVertex } from '@anthropic-ai/vertex-sdk';

const { BASE_VERTEX, SERVICE_KEY, PROMPT } = process.env;
const client = new AnthropicVertex({
  baseURL: `${BASE_VERTEX}/v1`,
  region: 'us-east5',
  projectId: 'acme',
  authClient: { getRequestHeaders: async () => new Headers({ authorization: 'Bearer ya29.test' }) },
  defaultHeaders: { 'X-Service-Key': SERVICE_KEY },
});
const request = {
  model: 'claude-sonnet-4-5@20250929',
  max_tokens: 100,
  messages: [{ role: 'user', content: PROMPT }],
};
console.log((await client.messages.create(request)).usage);
console.log(await client.messages.stream(request).finalText());

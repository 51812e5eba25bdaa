import Anthropic from '@anthropic-ai/sdk';

const { BASE_ANTHROPIC, SERVICE_KEY, PROMPT } = process.env;
const client = new Anthropic({
  baseURL: BASE_ANTHROPIC,
  apiKey: 'sk-ant-test',
  defaultHeaders: { 'X-Service-Key': SERVICE_KEY },
});
const request = { model: 'claude-sonnet-4-5', max_tokens: 100, messages: [{ role: 'user', content: PROMPT }] };
console.log((await client.messages.create(request)).content[0].text);
console.log((await client.messages.stream(request).finalMessage()).content[0].text);

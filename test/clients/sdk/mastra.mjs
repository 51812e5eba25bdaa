import { Agent } from '@mastra/core/agent';

const { BASE_OPENAI, BASE_ANTHROPIC, SERVICE_KEY, PROMPT } = process.env;
const headers = { 'X-Service-Key': SERVICE_KEY };
const memory = { thread: 'thread-1', resource: 'user-1' };
process.env.OPENAI_API_KEY = 'sk-test';
process.env.OPENAI_BASE_URL = `${BASE_OPENAI}/v1`;
process.env.ANTHROPIC_API_KEY = 'sk-ant-test';
process.env.ANTHROPIC_BASE_URL = `${BASE_ANTHROPIC}/v1`;
const models = [
  { id: 'openai/gpt-4o-mini', headers },
  { id: 'anthropic/claude-sonnet-4-5', headers },
  // Its own client of compatible servers.
  { id: 'any/gpt-4o-mini', url: `${BASE_OPENAI}/v1`, apiKey: 'sk-test', headers },
];
for (const [n, model] of models.entries()) {
  const agent = new Agent({ id: `agent-${n}`, name: 'An agent', instructions: 'Be brief.', model, maxRetries: 0 });
  console.log((await agent.generate(PROMPT, { memory })).text);
  for await (const text of (await agent.stream(PROMPT, { memory })).textStream) process.stdout.write(text);
  console.log();
}

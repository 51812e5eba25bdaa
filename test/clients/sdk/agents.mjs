import { Agent, OpenAIProvider, Runner, setTracingDisabled } from '@openai/agents';
import OpenAI from 'openai';

const { BASE_OPENAI, SERVICE_KEY, PROMPT } = process.env;
setTracingDisabled(true);
const openAIClient = new OpenAI({
  baseURL: `${BASE_OPENAI}/v1`,
  apiKey: 'sk-test',
  defaultHeaders: { 'X-Service-Key': SERVICE_KEY },
});
const agent = new Agent({ name: 'Greeter', model: 'gpt-4o-mini' });
for (const useResponses of [true, false]) {
  const runner = new Runner({ modelProvider: new OpenAIProvider({ openAIClient, useResponses }) });
  console.log((await runner.run(agent, PROMPT)).finalOutput);
}

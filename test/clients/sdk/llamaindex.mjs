import { OpenAI } from '@llamaindex/openai';

const { BASE_OPENAI, SERVICE_KEY, PROMPT } = process.env;
const llm = new OpenAI({
  model: 'gpt-4o-mini',
  apiKey: 'sk-test',
  baseURL: `${BASE_OPENAI}/v1`,
  additionalSessionOptions: { defaultHeaders: { 'X-Service-Key': SERVICE_KEY } },
});
console.log((await llm.chat({ messages: [{ role: 'user', content: PROMPT }] })).message.content);

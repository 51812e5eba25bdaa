import { ChatAnthropic } from '@langchain/anthropic';
import { ChatOpenAI } from '@langchain/openai';

const { BASE_OPENAI, BASE_ANTHROPIC, SERVICE_KEY, PROMPT } = process.env;
const defaultHeaders = { 'X-Service-Key': SERVICE_KEY };
const openai = new ChatOpenAI({
  model: 'gpt-4o-mini',
  apiKey: 'sk-test',
  configuration: { baseURL: `${BASE_OPENAI}/v1`, defaultHeaders },
});
const anthropic = new ChatAnthropic({
  model: 'claude-sonnet-4-5',
  apiKey: 'sk-ant-test',
  anthropicApiUrl: BASE_ANTHROPIC,
  clientOptions: { defaultHeaders },
});
console.log((await openai.invoke(PROMPT)).content);
for await (const chunk of await openai.stream(PROMPT)) process.stdout.write(chunk.content);
console.log('\n', (await anthropic.invoke(PROMPT)).content);

import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { generateText, streamText } from 'ai';

const { BASE_OPENAI, BASE_ANTHROPIC, BASE_GOOGLE, SERVICE_KEY, PROMPT } = process.env;
const headers = { 'X-Service-Key': SERVICE_KEY };
const openai = createOpenAI({ baseURL: `${BASE_OPENAI}/v1`, apiKey: 'sk-test', headers });
const anthropic = createAnthropic({ baseURL: `${BASE_ANTHROPIC}/v1`, apiKey: 'sk-ant-test', headers });
const google = createGoogleGenerativeAI({ baseURL: `${BASE_GOOGLE}/v1beta`, apiKey: 'AIza-test', headers });
console.log((await generateText({ model: openai('gpt-4o-mini'), prompt: PROMPT })).text);
for (const model of [openai.chat('gpt-4o-mini'), anthropic('claude-sonnet-4-5'), google('gemini-2.5-flash')])
  console.log(await streamText({ model, prompt: PROMPT }).text);

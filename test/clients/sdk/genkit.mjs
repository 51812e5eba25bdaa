import { openAI } from '@genkit-ai/compat-oai/openai';
import { googleAI } from '@genkit-ai/google-genai';
import { genkit } from 'genkit';

const { BASE_OPENAI, BASE_GOOGLE, SERVICE_KEY, PROMPT } = process.env;
const headers = { 'X-Service-Key': SERVICE_KEY };
const ai = genkit({
  plugins: [
    openAI({ apiKey: 'sk-test', baseURL: `${BASE_OPENAI}/v1`, defaultHeaders: headers }),
    googleAI({ apiKey: 'AIza-test', baseUrl: BASE_GOOGLE, customHeaders: headers }),
  ],
});
for (const model of ['openai/gpt-4o-mini', 'googleai/gemini-2.5-flash']) {
  console.log((await ai.generate({ model, prompt: PROMPT })).text);
  const { stream, response } = ai.generateStream({ model, prompt: PROMPT });
  for await (const chunk of stream) process.stdout.write(chunk.text);
  console.log((await response).usage.outputTokens);
}

import { GoogleGenAI } from '@google/genai';

const { BASE_GOOGLE, SERVICE_KEY, PROMPT } = process.env;
const client = new GoogleGenAI({
  apiKey: 'AIza-test',
  httpOptions: { baseUrl: BASE_GOOGLE, headers: { 'X-Service-Key': SERVICE_KEY } },
});
const request = { model: 'gemini-2.5-flash', contents: PROMPT };
console.log((await client.models.generateContent(request)).text);
for await (const chunk of await client.models.generateContentStream(request)) process.stdout.write(chunk.text ?? '');
console.log();

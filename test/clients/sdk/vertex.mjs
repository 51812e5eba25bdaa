import { GoogleGenAI } from '@google/genai';

const { BASE_VERTEX, SERVICE_KEY, PROMPT } = process.env;
const client = new GoogleGenAI({
  vertexai: true,
  project: 'acme',
  location: 'us-east5',
  googleAuthOptions: {
    authClient: { getRequestHeaders: async () => new Headers({ authorization: 'Bearer ya29.test' }) },
  },
  httpOptions: { baseUrl: BASE_VERTEX, headers: { 'X-Service-Key': SERVICE_KEY } },
});
const request = { model: 'gemini-2.5-flash', contents: PROMPT };
console.log((await client.models.generateContent(request)).text);
for await (const chunk of await client.models.generateContentStream(request)) process.stdout.write(chunk.text ?? '');
console.log();

import Groq from 'groq-sdk';

const { BASE_GROQ, SERVICE_KEY, PROMPT } = process.env;
const client = new Groq({ baseURL: BASE_GROQ, apiKey: 'gsk-test', defaultHeaders: { 'X-Service-Key': SERVICE_KEY } });
const request = { model: 'llama-3.3-70b-versatile', messages: [{ role: 'user', content: PROMPT }] };
console.log((await client.chat.completions.create(request)).choices[0].message.content);
for await (const chunk of await client.chat.completions.create({ ...request, stream: true }))
  process.stdout.write(chunk.choices[0]?.delta.content ?? '');
console.log();

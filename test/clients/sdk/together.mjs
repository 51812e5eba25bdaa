import Together from 'together-ai';

const { BASE_TOGETHER, SERVICE_KEY, PROMPT } = process.env;
const client = new Together({
  baseURL: `${BASE_TOGETHER}/v1`,
  apiKey: 'test',
  defaultHeaders: { 'X-Service-Key': SERVICE_KEY },
});
const request = { model: 'meta-llama/Llama-3.3-70B-Instruct-Turbo', messages: [{ role: 'user', content: PROMPT }] };
console.log((await client.chat.completions.create(request)).choices[0].message.content);

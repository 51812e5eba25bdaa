import { CohereClientV2 } from 'cohere-ai';

const { BASE_COHERE, SERVICE_KEY, PROMPT } = process.env;
const client = new CohereClientV2({ environment: BASE_COHERE, token: 'test' });
const request = { model: 'command-r-08-2024', messages: [{ role: 'user', content: PROMPT }] };
const response = await client.chat(request, { headers: { 'X-Service-Key': SERVICE_KEY } });
console.log(response.message.content[0].text);

import { HTTPClient, Mistral } from '@mistralai/mistralai';

const { BASE_MISTRAL, SERVICE_KEY, PROMPT } = process.env;
const httpClient = new HTTPClient();
httpClient.addHook('beforeRequest', (request) => {
  request.headers.set('X-Service-Key', SERVICE_KEY);
});
const client = new Mistral({ serverURL: BASE_MISTRAL, apiKey: 'test', httpClient });
const request = { model: 'mistral-small-latest', messages: [{ role: 'user', content: PROMPT }] };
console.log((await client.chat.complete(request)).choices[0].message.content);
for await (const { data } of await client.chat.stream(request))
  process.stdout.write(data.choices[0].delta.content ?? '');
console.log();

import OpenAI from 'openai';

const { BASE_OPENAI, SERVICE_KEY, PROMPT } = process.env;
const client = new OpenAI({
  baseURL: `${BASE_OPENAI}/v1`,
  apiKey: 'sk-test',
  defaultHeaders: { 'X-Service-Key': SERVICE_KEY },
});
const messages = [{ role: 'user', content: PROMPT }];
const chat = await client.chat.completions.create({ model: 'gpt-4o-mini', messages });
console.log(chat.choices[0].message.content);
for await (const chunk of await client.chat.completions.create({ model: 'gpt-4o-mini', messages, stream: true }))
  process.stdout.write(chunk.choices[0].delta.content ?? '');
console.log();
for await (const event of await client.responses.create({ model: 'gpt-4o-mini', input: PROMPT, stream: true }))
  if (event.type === 'response.completed') console.log(event.response.usage.output_tokens);

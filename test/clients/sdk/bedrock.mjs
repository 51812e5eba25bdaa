import {
  BedrockRuntimeClient,
  ConverseCommand,
  ConverseStreamCommand,
  InvokeModelCommand,
  InvokeModelWithResponseStreamCommand,
} from '@aws-sdk/client-bedrock-runtime';
import { NodeHttpHandler } from '@smithy/node-http-handler';

const { BASE_BEDROCK, SERVICE_KEY, PROMPT } = process.env;
const client = new BedrockRuntimeClient({
  region: 'us-east-1',
  endpoint: BASE_BEDROCK,
  token: { token: 'ABSK-test' },
  authSchemePreference: ['httpBearerAuth'],
  requestHandler: new NodeHttpHandler(),
  maxAttempts: 1,
});
client.middlewareStack.add(
  (next) => (args) => {
    args.request.headers['X-Service-Key'] = SERVICE_KEY;
    return next(args);
  },
  { step: 'build' },
);
const messages = [{ role: 'user', content: [{ text: PROMPT }] }];
const bodies = {
  'us.anthropic.claude-sonnet-4-5-20250929-v1:0': {
    anthropic_version: 'bedrock-2023-05-31',
    max_tokens: 100,
    messages: [{ role: 'user', content: PROMPT }],
  },
  'us.amazon.nova-pro-v1:0': { messages, inferenceConfig: { maxTokens: 100 } },
  'us.meta.llama3-3-70b-instruct-v1:0': { prompt: PROMPT, max_gen_len: 100 },
  'mistral.mistral-large-2402-v1:0': { prompt: PROMPT, max_tokens: 100 },
};
for (const [modelId, body] of Object.entries(bodies)) {
  const input = { modelId, contentType: 'application/json', accept: 'application/json', body: JSON.stringify(body) };
  const whole = await client.send(new InvokeModelCommand(input));
  console.log(Buffer.from(whole.body).toString());
  const stream = await client.send(new InvokeModelWithResponseStreamCommand(input));
  for await (const { chunk } of stream.body) console.log(Buffer.from(chunk.bytes).toString());
}
const converse = { modelId: 'us.amazon.nova-pro-v1:0', messages };
console.log((await client.send(new ConverseCommand(converse))).usage);
for await (const event of (await client.send(new ConverseStreamCommand(converse))).stream) console.log(event);

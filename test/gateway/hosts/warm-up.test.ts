import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { expect, it } from '@jest/globals';
import { gatewayVariables } from '../../../fixtures/gateway-variables.ts';
import type { AwsRequest } from '../../../lambda/gateway/aws/transport.ts';
import { warmUp } from '../../../lambda/gateway/hosts/warm-up.ts';

const variables = {
  TABLE_NAME: 'table',
  USAGE_QUEUE_URL: 'http://127.0.0.1:9/queue',
  ...gatewayVariables('http://127.0.0.1:9', 0),
};

it('relays and records a chat and a stream, as a client’s request would be', async () => {
  const calls: AwsRequest[] = [];
  const Item = {
    accountId: { S: 'a' },
    keyId: { S: 'k' },
    keyStatus: { S: 'active' },
    accountStatus: { S: 'active' },
  };
  await warmUp(variables, async (request) => {
    calls.push(request);
    return { status: 200, body: Buffer.from(JSON.stringify({ Item, SecretString: 'secret' })) };
  });
  const events = calls
    .filter(({ headers }) => headers['X-Amz-Target'] === 'AmazonSQS.SendMessageBatch')
    .flatMap(({ body }) =>
      JSON.parse(body).Entries.map((entry: { MessageBody: string }) => JSON.parse(entry.MessageBody)),
    );
  expect(events.map(({ kind }) => kind)).toEqual(['open', 'close', 'open', 'close']);
  for (const event of events.filter(({ kind }) => kind === 'close'))
    expect(event).toMatchObject({
      provider: 'openai',
      route: 'governed',
      outcome: 'completed',
      reading: { usage: { prompt_tokens: 1 }, modelServed: 'warm-up' },
    });
});

it('opens no connection', async () => {
  const opened: unknown[] = [];
  const note = (message: unknown) => opened.push(message);
  subscribe('net.client.socket', note);
  await warmUp(variables);
  unsubscribe('net.client.socket', note);
  expect(opened).toEqual([]);
});

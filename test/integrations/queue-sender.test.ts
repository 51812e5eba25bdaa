import { afterAll, beforeAll, beforeEach, expect, it, jest } from '@jest/globals';
import { emulatedQueue } from '../../fixtures/emulated-queue.ts';
import { emulatorVariables } from '../../fixtures/emulator-client.ts';
import { queueSender, textSender } from '../../lambda/integrations/queue-sender.ts';
import { awsErrors, type FaultProxy, startFaultProxy } from '../faults/harness/fault-proxy.ts';
import { forTests } from '../table-for-tests.ts';

const queue = forTests(emulatedQueue);
let proxy: FaultProxy;
beforeAll(async () => {
  proxy = await startFaultProxy(queue.endpoint);
  Object.assign(process.env, {
    AWS_ENDPOINT_URL_SQS: proxy.endpoint,
    ...emulatorVariables,
  });
});
beforeEach(() => proxy.calls.clear());
afterAll(() => proxy.close());

it('sends texts as they are and messages as JSON, now or later', async () => {
  const send = textSender(queue.queue);
  expect(await send('☃')).toMatch(/^[-\da-f]{36}$/);
  await queueSender<{ n: number }>(queue.queue)({ n: 1 });
  await send('later', 900);
  expect((await queue.bodies(queue.queue)).sort()).toEqual(['{"n":1}', '☃']);
});

it.each([
  ['throttles', awsErrors.sqsThrottled, 3],
  ['fails', awsErrors.unavailable, 3],
  ['is missing', { status: 400, body: { __type: 'com.amazonaws.sqs#QueueDoesNotExist' } }, 1],
])('to a queue that %s', async (_, error, attempts) => {
  const random = jest.spyOn(Math, 'random').mockReturnValue(0);
  await proxy.set({ kind: 'error', ...error });
  await expect(textSender(queue.queue)('text')).rejects.toThrow();
  expect(proxy.calls.get('SendMessage')).toBe(attempts);
  random.mockRestore();
});

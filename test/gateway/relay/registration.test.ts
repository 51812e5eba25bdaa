import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { listen, portOf } from '../../../fixtures/listen.ts';
import { Registration } from '../../../lambda/gateway/relay/registration.ts';

const GRACE_MS = 50;

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

it.each([true, false])('calls back once when the queue responds: accepted %s', async (accepted) => {
  const queue = Promise.withResolvers<boolean>();
  const registration = new Registration(queue.promise);
  let calls = 0;
  registration.whenKnown(() => calls++);
  await jest.advanceTimersByTimeAsync(GRACE_MS - 1);
  expect([calls, registration.accepted]).toEqual([0, false]);
  queue.resolve(accepted);
  await jest.advanceTimersByTimeAsync(0);
  expect([calls, registration.accepted]).toEqual([1, accepted]);
  await jest.advanceTimersByTimeAsync(GRACE_MS);
  expect(calls).toBe(1);
});

it('calls back once after the grace period, and still learns the result', async () => {
  const queue = Promise.withResolvers<boolean>();
  const registration = new Registration(queue.promise);
  let calls = 0;
  registration.whenKnown(() => calls++);
  await jest.advanceTimersByTimeAsync(GRACE_MS);
  await jest.advanceTimersToNextTimerAsync();
  expect([calls, registration.accepted]).toEqual([1, false]);
  queue.resolve(true);
  await jest.advanceTimersByTimeAsync(0);
  expect([calls, registration.accepted]).toEqual([1, true]);
});

it.each([true, false])('calls back at once when the queue has responded: accepted %s', async (accepted) => {
  const registration = new Registration(Promise.resolve(accepted));
  await jest.advanceTimersByTimeAsync(0);
  let calls = 0;
  registration.whenKnown(() => calls++);
  expect(calls).toBe(1);
});

it('counts a response of the queue that arrived during a stall of this process', async () => {
  jest.useRealTimers();
  const server = createServer((socket) => socket.on('error', () => {}).write('accepted'));
  await listen(server);
  const socket = connect(portOf(server), '127.0.0.1');
  try {
    await Promise.all([once(socket, 'connect'), once(server, 'connection')]);
    const registration = new Registration(once(socket, 'data').then(() => true));
    const acceptedThen = new Promise((resolve) => {
      registration.whenKnown(() => resolve(registration.accepted));
    });
    const until = performance.now() + 2 * GRACE_MS;
    while (performance.now() < until);
    expect(await acceptedThen).toBe(true);
  } finally {
    socket.destroy();
    server.close();
  }
});

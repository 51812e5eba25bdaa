import { Agent } from 'node:http';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { dropIdleConnections, recordIdleTimes } from '../../../lambda/gateway/aws/kept-connections.ts';

beforeEach(() => {
  jest.useFakeTimers({ now: 1_000_000 });
});
afterEach(() => {
  jest.useRealTimers();
});

/** As much of a socket as an agent needs to keep it. */
class FakeSocket {
  destroyed = false;
  setKeepAlive(): void {}
  unref(): void {}
  setTimeout(): void {}
  destroy(): void {
    this.destroyed = true;
  }
}
const socket = () => new FakeSocket() as unknown as Socket;

it('drops connections that have been idle for longer by the wall clock, and those of unknown age', () => {
  const agent = recordIdleTimes(new Agent({ keepAlive: true }));
  const [first, second, unknown] = [socket(), socket(), socket()];
  const free = agent.freeSockets as Record<string, Socket[] | undefined>;
  free['host'] = [first, second];
  free['other'] = [unknown];
  free['gone'] = undefined;
  agent.keepSocketAlive(first);
  jest.setSystemTime(1_003_000);
  agent.keepSocketAlive(second);
  jest.setSystemTime(1_004_000);
  dropIdleConnections(agent, 4_000);
  expect([first, second, unknown].map(({ destroyed }) => destroyed)).toEqual([false, false, true]);
  jest.setSystemTime(1_004_001);
  dropIdleConnections(agent, 4_000);
  expect([first, second].map(({ destroyed }) => destroyed)).toEqual([true, false]);
  dropIdleConnections(agent, -1);
  expect(second.destroyed).toBe(true);
});

it('drops connections that became idle after now: the clock was set back', () => {
  const agent = recordIdleTimes(new Agent({ keepAlive: true }));
  const kept = socket();
  (agent.freeSockets as Record<string, Socket[]>)['host'] = [kept];
  agent.keepSocketAlive(kept);
  jest.setSystemTime(1_000_000 - 3_600_000);
  dropIdleConnections(agent, 4_000);
  expect(kept.destroyed).toBe(true);
});

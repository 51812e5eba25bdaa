import { afterEach, expect, it, jest } from '@jest/globals';
import { afterResponses } from '../../../lambda/gateway/hosts/gateway-server.ts';

afterEach(() => {
  jest.restoreAllMocks();
  jest.useRealTimers();
});

it('runs the work of a millisecond together, in its order, with one timer', () => {
  jest.useFakeTimers();
  const timers = jest.spyOn(globalThis, 'setTimeout');
  const ran: string[] = [];
  const later = afterResponses();
  later(() => {
    ran.push('first');
    later(() => ran.push('third'));
  });
  later(() => ran.push('second'));
  expect(timers).toHaveBeenCalledTimes(1);
  expect(ran).toEqual([]);
  jest.advanceTimersByTime(1);
  expect(ran).toEqual(['first', 'second']);
  jest.advanceTimersByTime(1);
  expect(ran).toEqual(['first', 'second', 'third']);
  expect(timers).toHaveBeenCalledTimes(2);
});

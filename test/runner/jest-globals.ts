import { ModernFakeTimers } from '@jest/fake-timers';
import { ModuleMocker } from 'jest-mock';

/*
 * The module `@jest/globals` of tests: Jest's own parts, without Jest's realm around them. Whoever loads test files has put the
 * functions of jest-circus, and `expect`, among the globals before.
 */
export const { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, test } =
  globalThis as unknown as typeof import('@jest/globals');

const mocker = new ModuleMocker(globalThis);
const timers = new ModernFakeTimers({
  config: { fakeTimers: {}, rootDir: process.cwd() } as never,
  global: globalThis,
});

/** As much of it as tests use. */
export const jest = {
  fn: mocker.fn.bind(mocker),
  spyOn: mocker.spyOn.bind(mocker),
  clearAllMocks: () => mocker.clearAllMocks(),
  resetAllMocks: () => mocker.resetAllMocks(),
  restoreAllMocks: () => mocker.restoreAllMocks(),
  useFakeTimers: (config?: Parameters<typeof timers.useFakeTimers>[0]) => timers.useFakeTimers(config),
  useRealTimers: () => timers.useRealTimers(),
  setSystemTime: (now: number | Date) => timers.setSystemTime(now),
  advanceTimersByTime: (ms: number) => timers.advanceTimersByTime(ms),
  advanceTimersByTimeAsync: (ms: number) => timers.advanceTimersByTimeAsync(ms),
  advanceTimersToNextTimerAsync: (steps?: number) => timers.advanceTimersToNextTimerAsync(steps),
  /** What jest-circus reads before each test. */
  retryTimes: (times: number, { logErrorsBeforeRetry = false } = {}) =>
    Object.assign(globalThis, {
      [Symbol.for('RETRY_TIMES')]: times,
      [Symbol.for('LOG_ERRORS_BEFORE_RETRY')]: logErrorsBeforeRetry,
    }),
};

import { afterAll, beforeAll } from '@jest/globals';
import { callApi, registerAccount, type Session, STACK_TIMEOUT_MS, startTestStack, type TestStack } from './stack.ts';

let started: Promise<TestStack> | undefined;

/**
 * The stack of a test file, with the options of whoever asks for it first, and an account of their own for each. Both are there once the
 * tests run; `prepare` is what comes before them.
 */
export const stackForTests = (
  options: Parameters<typeof startTestStack>[0] = {},
  prepare: () => Promise<unknown> = async () => {},
) => {
  const running = {} as TestStack & { url: string; session: Session; api: ReturnType<typeof callApi> };
  beforeAll(async () => {
    started ??= startTestStack(options);
    Object.assign(running, await started);
    running.url = running.stack.url;
    running.api = callApi(running.url);
    running.session = await registerAccount(running.url);
    await prepare();
  }, STACK_TIMEOUT_MS);
  afterAll(async () => {
    const stack = await started;
    started = undefined;
    await stack?.stop();
  });
  return running;
};

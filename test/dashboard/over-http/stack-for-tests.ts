import { afterAll, beforeAll } from '@jest/globals';
import { callApi, registerAccount, type Session, STACK_TIMEOUT_MS, startTestStack, type TestStack } from './stack.ts';

/** The stack of a test file, and an account. Both are there once the tests run; `prepare` is what comes before them. */
export const stackForTests = (
  options: Parameters<typeof startTestStack>[0] = {},
  prepare: () => Promise<unknown> = async () => {},
) => {
  const running = {} as TestStack & { url: string; session: Session; api: ReturnType<typeof callApi> };
  beforeAll(async () => {
    Object.assign(running, await startTestStack(options));
    running.url = running.stack.url;
    running.api = callApi(running.url);
    running.session = await registerAccount(running.url);
    await prepare();
  }, STACK_TIMEOUT_MS);
  afterAll(() => running.stop?.());
  return running;
};

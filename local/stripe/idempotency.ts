import { ApiError } from './api-error.ts';

interface FirstCall {
  readonly request: string;
  readonly body: object;
}

/** Repeats the first response to a repeated call. It remembers the calls of this run only. */
export const idempotency = () => {
  const firstCalls = new Map<string, FirstCall>();
  return (key: string | undefined, request: string, run: () => object): { body: object; isReplay: boolean } => {
    const known = key === undefined ? undefined : firstCalls.get(key);
    if (known === undefined) {
      const body = run();
      if (key !== undefined) firstCalls.set(key, { request, body });
      return { body, isReplay: false };
    }
    if (known.request !== request)
      throw new ApiError(
        400,
        'idempotency_error',
        'Keys for idempotent requests can only be used with the same parameters they were first used with.',
      );
    return { body: known.body, isReplay: true };
  };
};

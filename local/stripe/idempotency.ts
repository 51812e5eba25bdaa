import { ApiError } from './api-error.ts';

interface Answered {
  readonly request: string;
  readonly answer: object;
}

/** Answers a repeated call as it was answered the first time. Of this run alone: nothing here repeats calls of an earlier one. */
export const idempotency = () => {
  const answers = new Map<string, Answered>();
  return (key: string | undefined, request: string, run: () => object): { answer: object; isReplay: boolean } => {
    const known = key === undefined ? undefined : answers.get(key);
    if (known === undefined) {
      const answer = run();
      if (key !== undefined) answers.set(key, { request, answer });
      return { answer, isReplay: false };
    }
    if (known.request !== request)
      throw new ApiError(
        400,
        'idempotency_error',
        'Keys for idempotent requests can only be used with the same parameters they were first used with.',
      );
    return { answer: known.answer, isReplay: true };
  };
};

import type { openSavings } from './savings.ts';

/** Savings, whose code, since it prices requests, is loaded for the first question about them. */
export const loadSavings = (...of: Parameters<typeof openSavings>) => {
  let savings: Promise<ReturnType<typeof openSavings>> | undefined;
  return () => {
    savings ??= import('#savings').then((code) => code.openSavings(...of));
    return savings;
  };
};

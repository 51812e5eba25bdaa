import { describe, expect, it } from '@jest/globals';
import {
  largestPromptOf,
  PROMPT_SIZE_LIMITS,
  promptSizeStep,
  promptTokensOf,
} from '../../../lambda/domain/usage/iterations.ts';

describe('the size of a prompt', () => {
  it.each(PROMPT_SIZE_LIMITS.map((limit, index) => [limit, index]))(
    'has a new step above %d tokens',
    (limit, below) => {
      expect([promptSizeStep(limit), promptSizeStep(limit + 1)]).toEqual([below, below + 1]);
    },
  );

  it('includes cached tokens, in every shape of usage', () => {
    expect(promptTokensOf({ prompt_tokens: 10, prompt_tokens_details: { cached_tokens: 5 } })).toBe(10);
    expect(promptTokensOf({ promptTokenCount: 10, cachedContentTokenCount: 5 })).toBe(10);
    expect(promptTokensOf({ input_tokens: 10, cache_read_input_tokens: 200, cache_creation_input_tokens: 3_000 })).toBe(
      3_210,
    );
  });

  it('is that of the largest iteration', () => {
    const iterations = [{ input_tokens: 10 }, { input_tokens: 30 }, { input_tokens: 20 }];
    expect(largestPromptOf({ input_tokens: 60, iterations })).toBe(30);
    expect(largestPromptOf({ input_tokens: 60, iterations: [] })).toBe(60);
    expect(largestPromptOf({ input_tokens: 60 })).toBe(60);
  });
});

import { describe, expect, it } from '@jest/globals';
import type { DemoCall } from '../../local/demo/calls.ts';
import { differences, expectedGroups, total } from '../../local/demo/expectation.ts';
import { dollars, spendTable } from '../../local/demo/spend.ts';
import { orderOf, promptFor } from '../../local/mock/providers.ts';

const call = (more: Partial<DemoCall>): DemoCall => ({
  method: 'openai-chat',
  provider: 'openai',
  model: 'gpt-4o-mini',
  tag: 'chatbot',
  stream: false,
  inputTokens: 1_000,
  outputTokens: 100,
  ...more,
});

const calls = [
  call({}),
  call({ inputTokens: 1 }),
  call({ provider: 'together', model: 'house-model', tag: null }),
  call({ method: 'openai-models', model: null, tag: null, inputTokens: 0, outputTokens: 0 }),
  call({ status: 429 }),
];

describe('what the demo expects', () => {
  it('adds up by provider, model and tag, from list prices', () => {
    const [chatbot, unpriced, free] = expectedGroups(calls);
    expect(chatbot).toMatchObject({
      requests: 3,
      costNanoUsd: 1_000 * 150 + 100 * 600 + (1 * 150 + 100 * 600),
      errors: 1,
      freeRequests: 1,
      inputTokens: 1_001,
    });
    expect(unpriced).toMatchObject({ provider: 'together', requests: 1, unpricedRequests: 1, costNanoUsd: 0 });
    expect(free).toMatchObject({ model: null, requests: 1, freeRequests: 1 });
    expect(total(expectedGroups(calls)).requests).toBe(5);
  });

  it('tells every difference, down to a nano-dollar', () => {
    const expected = expectedGroups(calls);
    expect(differences(expected, expected.toReversed())).toEqual([]);
    const [first, ...rest] = expected;
    expect(differences(expected, [{ ...first!, costNanoUsd: first!.costNanoUsd + 1 }, ...rest])).toEqual([
      '["openai","gpt-4o-mini","chatbot"]: costNanoUsd is 270151, expected 270150',
    ]);
    expect(differences(expected, rest)).toEqual(['["openai","gpt-4o-mini","chatbot"]: missing from the report']);
    expect(differences(rest, expected)).toEqual(['["openai","gpt-4o-mini","chatbot"]: reported, but never sent']);
  });
});

describe('what the demo shows', () => {
  it('shows money to the nano-dollar, and an unknown cost never as $0', () => {
    expect(dollars(1_000_000_001)).toBe('$1.000000001');
    const table = spendTable(expectedGroups(calls), 'provider');
    expect(table).toContain('$0.000270150');
    expect(table).toMatch(/together .* unknown/);
    expect(table).toMatch(/1 refused, 1 free/);
  });
});

describe('a prompt to the mock', () => {
  it('orders usage and status', () => {
    expect(orderOf(promptFor('Hi.', { inputTokens: 7, outputTokens: 9, status: 429 }))).toEqual({
      inputTokens: 7,
      outputTokens: 9,
      status: 429,
    });
    expect(orderOf('x'.repeat(40))).toEqual({ inputTokens: 10, outputTokens: 12 });
  });
});

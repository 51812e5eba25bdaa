import { describe, expect, it } from '@jest/globals';
import { BatchTotal } from '../../../lambda/gateway/meter/batch-total.ts';

type Usage = Record<string, unknown>;

const total = (lines: readonly (readonly [string | null, Usage])[]) => {
  const batch = new BatchTotal();
  for (const [model, usage] of lines) batch.add(model, usage);
  return batch.usage as (Usage & { batch_groups: Usage[] }) | null;
};

describe('the total of a batch', () => {
  it('is null without lines', () => {
    expect(total([])).toBeNull();
  });

  it('sums the lines of one model in one group', () => {
    const usage = { input_tokens: 3, output_tokens: 2 };
    expect(
      total([
        ['a', usage],
        ['a', usage],
        ['a', { input_tokens: 7, output_tokens: 0 }],
      ]),
    ).toMatchObject({
      input_tokens: 13,
      output_tokens: 4,
      batch_groups: [{ model: 'a', lines: 3, largest_prompt_tokens: 7, usage: { input_tokens: 13, output_tokens: 4 } }],
    });
  });

  const plain = { input_tokens: 1 };
  it.each<[string, string, Usage]>([
    ['model', 'b', plain],
    ['place', 'a', { ...plain, inference_geo: 'us' }],
    ['speed', 'a', { ...plain, speed: 'fast' }],
    ['iterations', 'a', { ...plain, iterations: [{ input_tokens: 1 }] }],
    ['prompt size', 'a', { input_tokens: 900_000 }],
  ])('has a group of its own for another %s', (_case, model, usage) => {
    expect(
      total([
        ['a', plain],
        [model, usage],
        ['a', plain],
      ])?.batch_groups.map(({ lines }) => lines),
    ).toEqual([2, 1]);
  });

  it('has at most 16 named groups; all lines after that share one without a model', () => {
    const models = Array.from({ length: 18 }, (_, n) => `m${n}`);
    const groups = total([...models, 'm0', 'm17'].map((model) => [model, plain]))?.batch_groups ?? [];
    expect(groups.map(({ model, lines }) => [model, lines])).toEqual([
      ['m0', 2],
      ...models.slice(1, 16).map((model) => [model, 1]),
      [null, 3],
    ]);
  });
});

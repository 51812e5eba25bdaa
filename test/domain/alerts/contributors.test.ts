import { describe, expect, it } from '@jest/globals';
import { contributorsOf } from '../../../lambda/domain/alerts/contributors.ts';
import { evaluatorOf, ruleConditionSchema } from '../../../lambda/domain/limits/rule.ts';
import type { Counters, SpendCounter } from '../../../lambda/domain/spend/counters.ts';

const counter = (model: string, counters: Counters, tag: string | null = null): SpendCounter => ({
  time: '2026-11-20',
  dimensions: { provider: 'openai', model, tag, keyId: 'key-1', providerKey: null },
  counters,
});
const costing = (nanoUsd: number): Counters => ({ requests: 1, costComputedNanoUsd: nanoUsd });

const contributors = (counters: readonly SpendCounter[], filter: object = {}, type = 'cost_threshold') =>
  contributorsOf(
    counters,
    evaluatorOf(ruleConditionSchema.parse({ type, config: { threshold: 1, period: 'daily', filter } })),
  );
const modelsOf = (found: ReturnType<typeof contributors>) =>
  found.flatMap(({ dimension, value, share }) => (dimension === 'model' ? [[value, share]] : []));

describe('contributorsOf', () => {
  it('has the three largest values of each dimension, the largest first, without those of nothing', () => {
    const found = contributors([
      counter('b', costing(20)),
      counter('d', costing(10)),
      counter('a', costing(30)),
      counter('c', costing(15)),
      counter('b', costing(25)),
      counter('none', { requests: 1 }),
    ]);
    expect(modelsOf(found)).toEqual([
      ['b', 0.45],
      ['a', 0.3],
      ['c', 0.15],
    ]);
    expect(modelsOf(contributors([counter('a', costing(30)), counter('none', { requests: 1 })]))).toEqual([['a', 1]]);
    expect(found.filter(({ dimension }) => dimension !== 'model')).toEqual([
      { dimension: 'provider', value: 'openai', label: null, share: 1 },
      { dimension: 'tag', value: null, label: null, share: 1 },
      { dimension: 'key', value: 'key-1', label: null, share: 1 },
    ]);
  });

  it('leaves out what the rule filters by, and requests that do not match', () => {
    const found = contributors([counter('a', costing(30), 'x'), counter('b', costing(10), 'y')], { tag: 'x' });
    expect(found.map(({ dimension }) => dimension)).toEqual(['provider', 'model', 'key']);
    expect(modelsOf(found)).toEqual([['a', 1]]);
  });

  it('measures what the rule judges', () => {
    const counters = [
      counter('a', { requests: 9, errors: 1, unpricedRequests: 3, costComputedNanoUsd: 10 }),
      counter('b', { requests: 9, errors: 3, unpricedRequests: 1 }),
    ];
    expect(modelsOf(contributors(counters, {}, 'error_rate'))).toEqual([
      ['b', 0.75],
      ['a', 0.25],
    ]);
    expect(modelsOf(contributors(counters, {}, 'unpriced_usage'))).toEqual([
      ['a', 0.75],
      ['b', 0.25],
    ]);
  });

  it('is empty where there is nothing to divide', () => {
    expect(contributors([counter('a', { requests: 1 })])).toEqual([]);
    expect(contributors([])).toEqual([]);
  });
});

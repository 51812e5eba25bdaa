import { describe, expect, it } from '@jest/globals';
import { type RuleCounter, readByProject } from '../../../lambda/domain/limits/rule-counters.ts';
import { passesRule, spendSeries } from '../../../lambda/domain/limits/spend-series.ts';
import { OTHER } from '../../../lambda/domain/spend/dimensions.ts';

const range = { granularity: 'day' as const, from: '2026-11-20', to: '2026-11-21' };
const keyIds = ['key-1', 'key-2', 'key-3', OTHER, null, 'of a former import'];

const all = async (counters: AsyncIterable<RuleCounter>): Promise<RuleCounter[]> => {
  const found: RuleCounter[] = [];
  for await (const counter of counters) found.push(counter);
  return found;
};

const opened = () => {
  const asked: (readonly string[])[] = [];
  const listed: string[] = [];
  const read = readByProject(
    async function* (_account, _range, dimensions) {
      asked.push(dimensions);
      for (const keyId of keyIds)
        yield {
          time: '2026-11-20',
          dimensions: { provider: 'openai', model: null, tag: null, keyId, providerKey: null },
          counters: { requests: 1, costComputedNanoUsd: 10 },
        };
    },
    async (accountId) => {
      listed.push(accountId);
      return [
        { keyId: 'key-1', projectId: 'search' },
        { keyId: 'key-2', projectId: 'search' },
        { keyId: 'key-3', projectId: 'default' },
      ];
    },
  );
  return { asked, listed, read };
};

describe('counters that are read by project', () => {
  it('have the project of their key, and are read by key once', async () => {
    const { asked, read } = opened();
    const counters = await all(read('account', range, ['project', 'keyId', 'model']));
    expect(counters.map(({ dimensions }) => dimensions.project)).toEqual([
      'search',
      'search',
      'default',
      OTHER,
      null,
      null,
    ]);
    expect(asked).toEqual([['keyId', 'model']]);
    expect(counters.map(({ dimensions }) => passesRule(dimensions, { project: 'search', keyId: 'key-2' }))).toEqual([
      ...[false, true, false],
      ...[false, false, false],
    ]);
  });

  it('add up to what its keys spent, and those under `(other)` may belong to it', async () => {
    const series = spendSeries({ granularity: 'day', filter: { project: 'search' } });
    for await (const counter of opened().read('account', range, ['project'])) series.add(counter);
    const day = ['2026-11-20T00:00:00.000Z', '2026-11-21T00:00:00.000Z'] as const;
    expect(series.sum(...day)).toEqual({ requests: 2, costComputedNanoUsd: 20 });
    expect(series.mayAlsoMatch(...day)).toEqual({ requests: 1, costNanoUsd: 10 });
  });

  it('cost no reading of keys where nobody asks for a project', async () => {
    const { asked, listed, read } = opened();
    await all(read('account', range, ['model']));
    expect([asked, listed]).toEqual([[['model']], []]);
  });
});

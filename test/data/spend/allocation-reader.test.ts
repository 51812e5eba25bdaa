import { expect, it } from '@jest/globals';
import { openSpend } from '../../../lambda/data/spend/spend.ts';
import { allocationCounterKey, allocationCounterName } from '../../../lambda/data/table/keys.ts';
import { noDimensions, OTHER, type SpendDimensionName } from '../../../lambda/domain/spend/dimensions.ts';
import { totalOf } from '../../../lambda/domain/spend/spend-report.ts';
import { tableForTests } from '../../table-for-tests.ts';
import { addSpend } from '../add-spend.ts';

const table = tableForTests();

it.each(['hour', 'day', 'month'] as const)(
  'finds the same sums by %s, whatever else is asked for',
  async (granularity) => {
    const accountId = `svc_${granularity}`;
    const at = '2026-11-20T10:30:00.000Z';
    await addSpend(table, accountId, at, { requests: 3 }, { model: 'a' });
    await addSpend(table, accountId, at, { requests: 1 }, { provider: 'xai', model: 'b' });
    const counted = allocationCounterName('client', {
      ...noDimensions,
      provider: 'openai',
      model: OTHER,
      keyId: OTHER,
      client: 'codex',
    });
    const key = allocationCounterKey(accountId, 'client', '2026-11-20T10', counted);
    await table.call('PutItem', { TableName: table.name, Item: { ...key, requests: 1 } });

    const range = { granularity, from: '2026-11-01T00:00:00.000Z', to: '2026-12-01T00:00:00.000Z' };
    const asked: SpendDimensionName[][] = [
      ['client', 'model'],
      ['client', 'model', 'keyId'],
      ['client', 'model', 'provider', 'keyId'],
    ];
    for (const names of asked)
      expect(
        await totalOf(openSpend(table).read({ accountId, range, groupBy: names }), { filter: { model: ['b'] } }),
      ).toMatchObject({
        totals: { requests: 1 },
        mayAlsoMatch: { requests: 3 },
      });
  },
);

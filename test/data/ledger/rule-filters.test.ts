import { expect, it } from '@jest/globals';
import { newServiceKey } from '../../../lambda/data/accounts/service-keys.ts';
import { openRuleFilters } from '../../../lambda/data/ledger/counter-slots.ts';
import { accountServiceKeyKey, ruleKey } from '../../../lambda/data/table/keys.ts';
import { tableForTests } from '../../table-for-tests.ts';

const table = tableForTests();

const put = (accountId: string, ruleId: string, members: object) =>
  table.call('PutItem', {
    TableName: table.name,
    Item: {
      ...ruleKey(accountId, ruleId),
      isActive: true,
      ...members,
    },
  });

it('finds the filters of one account, whatever else its rules are', async () => {
  await put('account', '1', { config: { filter: { tag: 'prod' } } });
  await put('account', '2', { type: 'of a later version', config: { filter: { model: 'm', later: 'c' }, more: 1 } });
  await put('account', '3', { config: {} });
  await put('account', '4', { config: { filter: { tag: 7 } } });
  await put('account', '5', { config: { filter: { key: 'key-1', dim: { team: 'search' } } } });
  await put('account', '6', { isActive: false, config: { filter: { tag: 'switched off' } } });
  await put('account-2', '5', { config: { filter: { tag: 'of another account' } } });
  expect(await openRuleFilters(table).find('account')).toEqual([
    { tag: 'prod' },
    { model: 'm' },
    { keyId: 'key-1', 'dim:team': 'search' },
  ]);
});

it('has a filter for each key of a project, and none for a key of another one', async () => {
  for (const [keyId, projectId] of [
    ['key-1', 'search'],
    ['key-2', 'search'],
    ['key-3', 'other'],
  ] as const) {
    const facts = { keyId, name: keyId, createdAt: '2026-11-01T00:00:00.000Z', projectId };
    const Item = { ...accountServiceKeyKey('projects', keyId), ...newServiceKey(facts, `secret-${keyId}`) };
    await table.call('PutItem', { TableName: table.name, Item });
  }
  await put('projects', '1', { config: { filter: { project: 'search', model: 'm' } } });
  await put('projects', '2', { config: { filter: { project: 'other', key: 'key-1' } } });
  await put('projects', '3', { config: { filter: { project: 'other', key: 'key-3' } } });
  expect(await openRuleFilters(table).find('projects')).toEqual([
    { keyId: 'key-1', model: 'm' },
    { keyId: 'key-2', model: 'm' },
    { keyId: 'key-3' },
  ]);
});

it.each([
  [59_000, []],
  [61_000, [{ tag: 'a' }]],
])('sees a new rule after a minute: after %d ms', async (ms, filters) => {
  let now = 1_000;
  const { find } = openRuleFilters(table, () => now);
  expect(await find(`new-${ms}`)).toEqual([]);
  await put(`new-${ms}`, '1', { config: { filter: { tag: 'a' } } });
  now += ms;
  expect(await find(`new-${ms}`)).toEqual(filters);
});

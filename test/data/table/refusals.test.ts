import { describe, expect, it } from '@jest/globals';
import { tableForTests } from '../../table-for-tests.ts';

const table = tableForTests();

describe('the table of tests', () => {
  const values = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`:v${i}`, i]));
  const query = (condition: string, given: Record<string, string>, more: object = {}) =>
    table.call('Query', {
      TableName: table.name,
      KeyConditionExpression: condition,
      ExpressionAttributeValues: given,
      ...more,
    });
  const filter = (operands: number) =>
    query('pk = :pk', { ':pk': 'p', ...values(operands) } as never, {
      FilterExpression: `n IN (${Object.keys(values(operands)).join(', ')})`,
    });
  const check = (comparisons: number) =>
    table.call('DeleteItem', {
      TableName: table.name,
      Key: { pk: 'p', sk: 's' },
      ConditionExpression: Array.from({ length: comparisons }, () => 'n <> :n').join(' AND '),
      ExpressionAttributeValues: { ':n': 1 },
    });
  const between = (sk: string, pk = 'p') =>
    query(
      'pk = :pk AND sk BETWEEN :from AND :to',
      { ':pk': 'p', ':from': 'b', ':to': 'd' },
      { ExclusiveStartKey: { pk, sk } },
    );
  const under = (prefix: string, sk: string) =>
    query('pk = :pk AND begins_with(sk, :at)', { ':pk': 'p', ':at': prefix }, { ExclusiveStartKey: { pk: 'p', sk } });

  it.each([
    ['more than 100 operands of IN', () => filter(101)],
    ['more than 300 operators', () => check(151)],
    ['a start before the range', () => between('a')],
    ['a start behind the range', () => between('e')],
    ['a start in another partition', () => between('c', 'q')],
    ['a start without the prefix', () => under('c', 'd')],
    ['an empty value for a key', () => under('', 'd')],
  ])('refuses %s, as DynamoDB does', async (_, call) => {
    await expect(call()).rejects.toThrow(expect.objectContaining({ name: 'ValidationException' }));
  });

  it('takes as much as DynamoDB does', async () => {
    for (const call of [filter(100), check(150), between('b'), between('d'), under('c', 'cd')])
      expect(await call).toBeDefined();
  });
});

import { expect, it } from '@jest/globals';
import { valueReader } from '../../../lambda/gateway/admission/value-lookup.ts';

it('takes what a throttled table left out for unread, not for nothing used', async () => {
  const name = JSON.stringify(['account', 'budget', '2026-11', 'ada']);
  const throttled = { Responses: { table: [] }, UnprocessedKeys: { table: { Keys: [{ pk: { S: 'a' } }] } } };
  await expect(valueReader(async () => throttled, 'table', 1)(name)).rejects.toThrow('throttled');
});

import { expect, it } from '@jest/globals';
import { openRequestCounts } from '../../../lambda/data/accounts/request-counts.ts';
import { MINUTE_MS } from '../../../lambda/domain/calendar/units.ts';
import { tableForTests } from '../../table-for-tests.ts';

const table = tableForTests();

it('counts by name, subject and window, exactly also at once, and stores no subject', async () => {
  let nowMs = Date.parse('2026-11-20T16:14:00Z');
  const { count } = openRequestCounts(table, () => nowMs);
  const counts = await Promise.all(Array.from({ length: 10 }, () => count('logIn#perEmail', 'ada@example.com', 15)));
  expect(counts.map(({ requests }) => requests).sort((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  expect(counts[0]?.endsInSeconds).toBe(60);
  expect((await count('logIn#perEmail', 'bob@example.com', 15)).requests).toBe(1);
  expect((await count('register#perEmail', 'ada@example.com', 15)).requests).toBe(1);
  nowMs += MINUTE_MS;
  expect(await count('logIn#perEmail', 'ada@example.com', 15)).toEqual({ requests: 1, endsInSeconds: 900 });

  const { Items = [] } = await table.call('Scan', { TableName: table.name });
  expect(JSON.stringify(Items)).not.toContain('ada@');
  // The table removes an item after its window.
  for (const { sk, expiresAt } of Items) expect(expiresAt).toBe(Date.parse(sk) / 1000 + 15 * 60);
});

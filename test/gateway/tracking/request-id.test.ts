import { expect, it } from '@jest/globals';
import { requestIds } from '../../../lambda/gateway/tracking/request-id.ts';

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

it('makes UUIDv7 ids that ascend and whose random bits never repeat', () => {
  const next = requestIds();
  const ids = Array.from({ length: 3_000 }, next);
  for (const id of ids) expect(id).toMatch(UUID_V7);
  expect(ids.toSorted()).toEqual(ids);
  // The last 32 bits of each id are a random word of its own.
  const words = new Set(ids.map((id) => id.slice(-8)));
  expect(words.size).toBeGreaterThan(2_990);
  const other = new Set(Array.from({ length: 3_000 }, requestIds()).map((id) => id.slice(-8)));
  expect([...other].filter((word) => words.has(word)).length).toBeLessThan(10);
});

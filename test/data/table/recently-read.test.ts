import { expect, it } from '@jest/globals';
import { recentlyRead } from '../../../lambda/data/table/recently-read.ts';
import { DAY_MS, MINUTE_MS } from '../../../lambda/domain/calendar/units.ts';

const opened = () => {
  const world = { value: 'old' as string | undefined, nowMs: Date.parse('2026-11-20T12:00:00.000Z') };
  const read = recentlyRead(
    async () => world.value,
    10,
    () => world.nowMs,
  );
  return { world, read };
};

it.each([
  ['a minute later', MINUTE_MS, 'new'],
  ['a little earlier than that', MINUTE_MS - 1, 'old'],
  ['where the clock was set back by a day', -DAY_MS, 'new'],
  ['where it was set back by a second', -1_000, 'new'],
])('has what is there %s', async (_, afterMs, expected) => {
  const { world, read } = opened();
  await read('id');
  world.value = 'new';
  world.nowMs += afterMs;
  expect(await read('id')).toBe(expected);
});

it('keeps nothing of what is not there, and nothing that is not good enough', async () => {
  const { world, read } = opened();
  world.value = undefined;
  expect(await read('id')).toBeUndefined();
  world.value = 'there';
  expect(await read('id')).toBe('there');
  world.value = 'new';
  expect(await read('id', (kept) => kept !== 'there')).toBe('new');
});

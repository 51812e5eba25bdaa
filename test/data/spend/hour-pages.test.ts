import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { hourItems, readHours } from '../../../lambda/data/spend/hour-pages.ts';
import { openPages } from '../../../lambda/data/spend/summary-pages.ts';
import type { SummaryView } from '../../../lambda/data/table/keys.ts';
import type { Counters, SpendCounter } from '../../../lambda/domain/spend/counters.ts';

const countersOfRange = (tags: number, tagOf: (n: number) => string): SpendCounter[] =>
  Array.from({ length: 24 }, (_, hour) =>
    Array.from({ length: tags }, (_unused, n) => ({
      time: `2026-11-20T${String(hour).padStart(2, '0')}`,
      dimensions: { provider: 'openai', model: 'gpt-4o', tag: tagOf(n), keyId: 'k', providerKey: null },
      // Some hours have no requests of some tags, and some sums no cost.
      counters: { requests: n + 1, ...(n % 3 !== 0 && { costComputedNanoUsd: 1_000 * hour + 1 }) } as Counters,
    })).filter((_, n) => (n + hour) % 4 !== 0),
  ).flat();

/** Names so long that a view of a few hundred takes several pages, and that compression makes short. */
const longTag = (n: number) => `user-${n}-${'x'.repeat(2_000)}`;

const itemsOf = (items: ReturnType<typeof hourItems>, view: SummaryView) =>
  items.filter(({ sk }) => sk.startsWith(`SEALED#${view}#`));

const read = async (items: readonly Record<string, unknown>[], view: SummaryView): Promise<SpendCounter[]> => {
  const found: SpendCounter[] = [];
  for await (const { spendCounters } of readHours(openPages(Readable.from(items)), view)) found.push(...spendCounters);
  return found;
};

const named = (some: readonly SpendCounter[]) =>
  some
    .map(({ time, dimensions, counters }) => JSON.stringify([time, dimensions, Object.entries(counters).sort()]))
    .sort();

describe('the hours of a rolled-up day', () => {
  it('come back as they were, in order, from one page or several', async () => {
    const spendCounters = countersOfRange(250, longTag);
    const items = hourItems('svc_a', '2026-11-20', spendCounters);
    const crosses = itemsOf(items, 'CELLS');
    expect(crosses.length).toBeGreaterThan(1);
    const found = await read(crosses, 'CELLS');
    expect(named(found)).toEqual(named(spendCounters));
    const times = found.map(({ time }) => time);
    expect(times).toEqual(times.toSorted());
    const requestsAt = Map.groupBy(spendCounters, ({ time }) => time);
    const expected = [...requestsAt].map(([time, some]) => [
      time,
      some.reduce((sum, { counters }) => sum + (counters.requests ?? 0), 0),
    ]);
    for (const view of ['TOTALS', 'model'] as const)
      expect((await read(itemsOf(items, view), view)).map(({ time, counters }) => [time, counters.requests])).toEqual(
        expected,
      );
    const byTag = await read(itemsOf(items, 'tag'), 'tag');
    expect(byTag).toHaveLength(spendCounters.length);
    expect(byTag[0]?.dimensions).toMatchObject({ provider: '', model: null, tag: expect.stringMatching(/^user-/) });
  });

  it('are left out of a view that is too large for the transaction, and its former pages no longer count', async () => {
    const randomTags = Array.from({ length: 1_000 }, () => randomBytes(2_400).toString('base64'));
    const before = hourItems('svc_a', '2026-11-20', countersOfRange(250, longTag));
    const after = hourItems(
      'svc_a',
      '2026-11-20',
      countersOfRange(1_000, (n) => randomTags[n] ?? '').filter(({ time }) => time < '2026-11-20T02'),
    );
    expect(itemsOf(after, 'CELLS').map(({ pages }) => pages)).toEqual([0]);
    const stored = new Map([...before, ...after].map((item) => [item.sk, item]));
    const items = [...stored.values()].sort((left, right) => (left.sk < right.sk ? -1 : 1));
    expect(itemsOf(items, 'CELLS').length).toBeGreaterThan(1);
    expect(await read(itemsOf(items, 'CELLS'), 'CELLS')).toEqual([]);
    expect(await read(itemsOf(items, 'TOTALS'), 'TOTALS')).toHaveLength(2);
  });

  it('are not read from a day that is rolled up again between two pages', async () => {
    const [first] = itemsOf(hourItems('svc_a', '2026-11-20', countersOfRange(250, longTag)), 'CELLS');
    const next = itemsOf(hourItems('svc_a', '2026-11-21', []), 'CELLS');
    const other = countersOfRange(2, longTag).map((spendCounter) => ({
      ...spendCounter,
      time: spendCounter.time.replace('-20T', '-22T'),
    }));
    const whole = itemsOf(hourItems('svc_a', '2026-11-22', other), 'CELLS');
    expect(named(await read([first ?? {}, ...next, ...whole], 'CELLS'))).toEqual(named(other));
  });
});

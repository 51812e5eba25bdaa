import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { hourCounterExpiry } from '../../../lambda/data/ledger/transactions.ts';
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

const unexpected = () => {
  throw new Error('A summary is read again.');
};

const read = async (
  items: readonly Record<string, unknown>[],
  view: SummaryView,
  readAgain: (summary: string) => AsyncIterable<Record<string, unknown>> = unexpected,
): Promise<SpendCounter[]> => {
  const found: SpendCounter[] = [];
  for await (const { spendCounters } of readHours(openPages(Readable.from(items), readAgain), view))
    found.push(...spendCounters);
  return found;
};

const named = (some: readonly SpendCounter[]) =>
  some
    .map(({ time, dimensions, counters }) => JSON.stringify([time, dimensions, Object.entries(counters).sort()]))
    .sort();

describe('the hours of a rolled-up day', () => {
  it('come back as they were, in order, from one page or several', async () => {
    const spendCounters = countersOfRange(250, longTag);
    const items = hourItems('svc_a', '2026-11-20', spendCounters, 'v1');
    expect(new Set(items.map(({ expiresAt }) => expiresAt))).toEqual(new Set([hourCounterExpiry('2026-11-20T23')]));
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
    const earlyHours = (tags: number) =>
      countersOfRange(tags, (n) => randomTags[n] ?? '').filter(({ time }) => time < '2026-11-20T02');
    const before = hourItems('svc_a', '2026-11-20', countersOfRange(250, longTag), 'v1');
    const after = hourItems('svc_a', '2026-11-20', earlyHours(1_000), 'v2');
    expect(itemsOf(after, 'CELLS').map(({ pages }) => pages)).toEqual([0]);
    // Of two views that fit alone, the first leaves no room.
    const half = hourItems('svc_a', '2026-11-20', earlyHours(500), 'v2');
    expect(itemsOf(half, 'CELLS')[0]?.pages).toBeGreaterThan(0);
    expect(itemsOf(half, 'tag').map(({ pages }) => pages)).toEqual([0]);
    const stored = new Map([...before, ...after].map((item) => [item.sk, item]));
    const items = [...stored.values()].sort((left, right) => (left.sk < right.sk ? -1 : 1));
    expect(itemsOf(items, 'CELLS').length).toBeGreaterThan(1);
    expect(await read(itemsOf(items, 'CELLS'), 'CELLS')).toEqual([]);
    expect(await read(itemsOf(items, 'TOTALS'), 'TOTALS')).toHaveLength(2);
  });

  it('are read again where the day is rolled up again between two pages', async () => {
    const before = itemsOf(hourItems('svc_a', '2026-11-20', countersOfRange(250, longTag), 'v1'), 'CELLS');
    const counters = countersOfRange(260, longTag);
    const after = itemsOf(hourItems('svc_a', '2026-11-20', counters, 'v2'), 'CELLS');
    expect(before.length).toBe(after.length);
    const next = itemsOf(hourItems('svc_a', '2026-11-21', [], 'v1'), 'CELLS');
    const mixed = [...before.slice(0, 1), ...after.slice(1), ...next];
    const reads: string[] = [];
    const found = await read(mixed, 'CELLS', (summary) => {
      reads.push(summary);
      return Readable.from(after);
    });
    expect(named(found)).toEqual(named(counters));
    expect(reads).toEqual(['SEALED#CELLS#HOUR#2026-11-20']);
  });
});

import { Readable } from 'node:stream';
import { expect, it } from '@jest/globals';
import { openPages, readCrosses, summaryItems } from '../../../lambda/data/spend/summary-pages.ts';
import { summarize } from '../../../lambda/domain/spend/summary.ts';

const itemsOf = (tags: number) =>
  summaryItems(
    'svc_a',
    'DAY',
    '2026-11-20',
    summarize(
      Array.from({ length: tags }, (_, n) => ({
        dimensions: { provider: 'openai', model: 'm', tag: `${n}-${'x'.repeat(400)}`, keyId: null, providerKey: null },
        counters: { requests: 1 },
      })),
    ),
  ).filter(({ sk }) => sk.startsWith('SEALED#CELLS#'));

it('a shorter summary is read without the remaining pages of the longer one before it', async () => {
  const [before, after] = [itemsOf(1_400), itemsOf(10)];
  expect(before.length).toBeGreaterThan(after.length);
  const items = [...new Map([...before, ...after].map((item) => [item.sk, item])).values()];
  const read = async (some: typeof items) => {
    let requests = 0;
    for await (const page of openPages(Readable.from(some)))
      for (const { counters } of readCrosses(page)) requests += counters.requests ?? 0;
    return requests;
  };
  expect(await read(before)).toBe(1_400);
  expect(await read(items)).toBe(10);
});

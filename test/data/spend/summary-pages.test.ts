import { Readable } from 'node:stream';
import { expect, it } from '@jest/globals';
import { openPages, readCrosses, summaryItems } from '../../../lambda/data/spend/summary-pages.ts';
import { UnavailableError } from '../../../lambda/domain/errors.ts';
import { summarize } from '../../../lambda/domain/spend/summary.ts';

const itemsOf = (tags: number, version = `with ${tags} tags`) =>
  summaryItems(
    { accountId: 'svc_a', granularity: 'DAY', period: '2026-11-20', version },
    summarize(
      Array.from({ length: tags }, (_, n) => ({
        dimensions: { provider: 'openai', model: 'm', tag: `${n}-${'x'.repeat(400)}`, keyId: null, providerKey: null },
        counters: { requests: 1 },
      })),
    ),
  ).filter(({ sk }) => sk.startsWith('SEALED#CELLS#'));

const unexpected = (): never => {
  throw new Error('A summary is read again.');
};

type Items = readonly Record<string, unknown>[];
const requestsOf = async (items: Items, readAgain: (summary: string) => Items = unexpected) => {
  let requests = 0;
  for await (const page of openPages(Readable.from(items), (summary) => Readable.from(readAgain(summary))))
    for (const { counters } of readCrosses(page)) requests += counters.requests ?? 0;
  return requests;
};

it('a shorter summary is read without the remaining pages of the longer one before it', async () => {
  const [before, after] = [itemsOf(1_400), itemsOf(10)];
  expect(before.length).toBeGreaterThan(after.length);
  const items = [...new Map([...before, ...after].map((item) => [item.sk, item])).values()];
  expect(await requestsOf(before)).toBe(1_400);
  expect(await requestsOf(items)).toBe(10);
});

it('a summary whose pages come from two rollups is read again until they come from one', async () => {
  const [before, after] = [itemsOf(1_400), itemsOf(1_390)];
  expect(before.length).toBe(after.length);
  const mixed = [...before.slice(0, 1), ...after.slice(1)];
  const reads = [mixed, [...after.slice(0, 1), ...before.slice(1)], after];
  expect(await requestsOf(mixed, () => reads.shift() ?? [])).toBe(1_390);
  expect(reads).toEqual([]);
  await expect(requestsOf(mixed, () => mixed)).rejects.toThrow(UnavailableError);
});

it('pages that have no version are of one rollup', async () => {
  const items = itemsOf(1_400).map(({ version: _, ...item }) => item);
  expect(await requestsOf(items)).toBe(1_400);
});

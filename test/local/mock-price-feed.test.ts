import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { emulatedTable } from '../../fixtures/emulated-table.ts';
import { openPriceVersions } from '../../lambda/data/prices/price-versions.ts';
import { readPublicFile } from '../../lambda/integrations/read-public-file.ts';
import { readFeed } from '../../lambda/price-feed/read-feed.ts';
import { HELD_MODEL, type MockProviders, NEW_MODEL, startMockProviders } from '../../local/mock/providers.ts';
import { feedLines } from '../../ops/prices/feed.ts';

let table: Awaited<ReturnType<typeof emulatedTable>>;
let mock: MockProviders;

beforeAll(async () => {
  [table, mock] = await Promise.all([emulatedTable(), startMockProviders()]);
});
afterAll(() => Promise.all([table.stop(), mock.stop()]));

it('the mock’s price feed adds one model, which waits for a second source, has one change that waits, and changes no other price', async () => {
  const versions = openPriceVersions(table);
  const problems: unknown[] = [];
  const report = (...problem: unknown[]) => problems.push(problem);
  await readFeed({
    sources: JSON.parse(mock.withFeed.PRICE_FEED_SOURCES),
    versions,
    readFile: readPublicFile,
    logger: { info: () => {}, warn: report, error: report },
    metrics: { addMetric: () => {} },
    now: () => new Date(),
  })();
  expect(problems).toEqual([]);
  const lines = await feedLines(versions);
  expect(lines).toContain('Version 1 holds.');
  expect(lines).toContain(`  openai ${NEW_MODEL}  none → input 1, output 4  (genai-prices)`);
  expect(lines.filter((line) => line.includes('→'))).toEqual([
    expect.stringContaining(NEW_MODEL),
    expect.stringMatching(`1  openai ${HELD_MODEL}  input 30, output 60 → input 90, output 180`),
    expect.stringMatching(`2  openai ${NEW_MODEL}  none → input 1, output 4  .*waits \\(oneSource\\)`),
  ]);
});

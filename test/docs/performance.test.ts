import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { pageWith, readResults, rows, tablesOf } from '../../bench/report/page.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/performance.md'), 'utf8');
const results = readResults();

it('has the tables that the results make', () => {
  expect(pageWith(page, results)).toBe(page);
});

it('says which figures miss their target', () => {
  const path = results['path'];
  if (!path) throw new Error('There is no result of the whole path.');
  const withRecorder = (ms: number) =>
    tablesOf({
      ...results,
      path: {
        ...path,
        parts: [
          { part: 'recorder', 'CPU ms a request': ms },
          { part: 'gateway', 'CPU ms a request': 0.3 },
        ],
      },
    });
  const lineOf = (text: string) => text.split('\n').find((line) => line.includes('CPU of the recorder'));
  expect(lineOf(withRecorder(0.6))).toContain('| ≤ 0.6 | 0.6 |');
  expect(lineOf(withRecorder(0.61))).toContain('| ≤ 0.6 | 0.61, **missed** |');
});

it('refuses a result without a figure that the page shows', () => {
  const [first] = rows;
  const { [first?.bench ?? '']: result, ...others } = results;
  if (!result) throw new Error('There is no such result.');
  expect(() => tablesOf({ ...others, [first?.bench ?? '']: { ...result, results: {} } })).toThrow(
    /relay\.json has no figure/,
  );
});

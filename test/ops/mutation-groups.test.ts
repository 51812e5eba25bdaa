import { globSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { groups, wiring } from '../../ops/mutate/groups.ts';

const filesOf = (globs: readonly string[]): string[] => {
  const leftOut = new Set(globSync(globs.filter((glob) => glob.startsWith('!')).map((glob) => glob.slice(1))));
  return globSync(globs.filter((glob) => !glob.startsWith('!'))).filter((file) => !leftOut.has(file));
};

it('mutation groups have each file once', () => {
  const leftOut = wiring.map((glob) => `!${glob}`);
  const mutated = Object.values(groups).flatMap(({ mutate }) => filesOf([...mutate, ...leftOut]));
  expect(mutated.toSorted()).toEqual(filesOf(['{lambda,lib,web/src}/**/*.ts', ...leftOut]).toSorted());
});

it.each(Object.entries(groups))('each glob of tests of %s finds some', (_name, { tests }) => {
  for (const glob of tests) expect([glob, globSync(glob).length > 0]).toEqual([glob, true]);
});

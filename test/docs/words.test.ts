import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { exportedNames, findRetiredWords, metricNames, proseOf } from './retired-words.ts';

const production = globSync('{bin,container,lambda,lib,local,ops,web/src}/**/*.{css,js,ts,tsx}').filter(
  (path) => !/\.(generated|d)\.ts$/.test(path),
);

const findIn = (paths: readonly string[], partOf = (source: string): string => source): string[] =>
  paths.flatMap((path) => findRetiredWords(path, partOf(readFileSync(path, 'utf8'))));

describe('no retired word', () => {
  it('is in the docs', () => {
    expect(
      findIn(['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...globSync('docs/*.md'), ...globSync('web/*.md')]),
    ).toEqual([]);
  });

  it('is in the API', () => {
    expect(findIn(['docs/openapi.json'])).toEqual([]);
  });

  it('is in the name of a metric', () => {
    expect(findIn(['lib/stacks/metrics.ts'], metricNames)).toEqual([]);
  });

  it('is in the name of a command', () => {
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };
    const commands = [...Object.keys(scripts), ...globSync('ops/*.ts')];
    expect(commands.flatMap((name) => findRetiredWords('package.json', name))).toEqual([]);
  });

  it('is in an exported name or a path', () => {
    const findings = [
      ...findIn(production, exportedNames),
      ...production.flatMap((path) => findRetiredWords(path, path)),
    ];
    expect(findings).toEqual([]);
  });

  it('is in a comment or a message', () => {
    expect(findIn(production, proseOf)).toEqual([]);
  });

  it('begins a comment, where its subject would', () => {
    const fragments = production.flatMap((path) =>
      proseOf(readFileSync(path, 'utf8'))
        .split('\n')
        .filter((line) => /^\s*Of /.test(line))
        .map((line) => `${path}: ${line.trim()}`),
    );
    expect(fragments).toEqual([]);
  });
});

describe('the check', () => {
  it.each([
    ['prose', '// The answer is sealed.', ['"answer"', '"sealed"']],
    ['a phrase over two lines', 'The provider broke\noff.', ['"broke off"']],
    ['names', 'const maxFoldLevel = ANSWER_BYTES;', ['"ANSWER"', '"Fold"']],
    ['what is not retired', 'The folder of `PARKED#1` parkedAt <span> stays.', []],
  ])('reads %s', (_, text, words) => {
    expect(findRetiredWords('page.md', text).map((message) => /".*"/.exec(message)?.[0])).toEqual(words);
  });

  it('names file, line, word and replacement', () => {
    expect(findRetiredWords('page.md', 'One.\nIts fate.')).toEqual(['page.md:2: "fate" is retired; say: result']);
  });

  it('reads comments and messages, not code', () => {
    const source = ["import { seal } from './seal.ts';", '/** Seals it. */', "throw new Error('cannot be told');"].join(
      '\n',
    );
    expect(
      proseOf(source)
        .split('\n')
        .map((line) => line.trim()),
    ).toEqual(['', 'Seals it.', 'cannot be told']);
  });
});

import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';

const { scripts } = z
  .object({ scripts: z.record(z.string(), z.string()) })
  .parse(JSON.parse(readFileSync('package.json', 'utf8')));

const pages = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...globSync('docs/*.md')].map((page) => ({
  page,
  text: readFileSync(page, 'utf8'),
}));

/** As GitHub makes them of headings. */
const anchorsOf = (text: string): string[] =>
  [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{Letter}\p{Number}\p{Connector_Punctuation} -]/gu, '')
      .replaceAll(' ', '-'),
  );

/** Made by commands. */
const notKept = ['test/web/screenshots', 'container/dist/main.mjs'];

describe.each(pages)('$page', ({ page, text }) => {
  it('names commands that there are', () => {
    const named = [...text.matchAll(/npm run (?:--silent )?([\w:-]+)/g)].map(([, name = '']) => name);
    expect(Object.keys(scripts)).toEqual(expect.arrayContaining(named));
  });

  it('links pages and sections that there are', () => {
    const known = new Map(pages.map((each) => [each.page, anchorsOf(each.text)]));
    const links = [...text.matchAll(/\]\((?!https?:)([^)#]*)#?([^)]*)\)/g)].map(([, path = '', anchor = '']) => ({
      path: path === '' ? page : normalize(join(dirname(page), path)),
      anchor,
    }));
    for (const { path, anchor } of links) {
      expect([path, globSync(path)]).toEqual([path, [path]]);
      if (anchor !== '') expect(known.get(path)).toContain(anchor);
    }
  });

  it('has lines that fit a screen, but for tables and code', () => {
    const prose = text.replaceAll(/^```[\s\S]*?^```$/gm, '').split('\n');
    expect(prose.filter((line) => line.length > 140 && !/^ *\||^!\[/.test(line))).toEqual([]);
  });

  it('names files that there are', () => {
    const folders = 'lambda|lib|local|test|bench|ops|bin|container|web|docs|\\.github';
    const named = [...text.matchAll(new RegExp(`(?<![\\w/.])(?:${folders})/[\\w./*-]*\\w`, 'g'))].map(([path]) => path);
    const missing = named.filter((path) => !notKept.includes(path) && globSync(path).length === 0);
    expect(missing).toEqual([]);
  });
});
